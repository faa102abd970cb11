"""Judge a dumped batch of a verl run: which stage is not what verl 0.9.1 computes."""

import sys
from argparse import ArgumentParser, Namespace

from ppo_ref.dump import judging, reading
from ppo_ref.dump.groups import ESTIMATORS


def add(parser: ArgumentParser) -> None:
    """Name the arguments of the command."""
    parser.epilog = (
        f"To make DUMP, in your trainer behind compute_advantage: {reading.WRITE}. "
        "Exit code: 0 nothing wrong found, 1 a line says FAIL, 2 DUMP is no dump."
    )
    parser.add_argument("dump", metavar="DUMP", help="a dict of tensors by torch.save")
    parser.add_argument("--gamma", type=float, help="algorithm.gamma; searched if not")
    parser.add_argument("--lam", type=float, help="algorithm.lam; searched if not")
    parser.add_argument(
        "--kl-coef", type=float, help="of KL in rewards; searched if not"
    )
    parser.add_argument(
        "--estimator",
        choices=["gae", "reinforce_plus_plus", *ESTIMATORS],
        help="algorithm.adv_estimator; found from the numbers if not",
    )
    parser.add_argument("--eos-token-id", type=int, help="judge the mask by it")


def run(arguments: Namespace) -> int:
    """Print the verdicts: 0 if none is FAIL, 1 if one is, 2 if it is no dump."""
    try:
        report = judging.judge(
            reading.read(arguments.dump),
            gamma=arguments.gamma,
            gae_lambda=arguments.lam,
            kl_coef=arguments.kl_coef,
            estimator=arguments.estimator,
            eos_token_id=arguments.eos_token_id,
        )
    except (TypeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except (IndexError, OverflowError, RuntimeError) as error:
        # Of a stranger's tensors: what shape and layout they have is theirs.
        sentence = str(error).partition("\n")[0]
        print(f"{arguments.dump}: cannot be judged: {sentence}", file=sys.stderr)
        return 2
    print(report)
    return 0 if report.ok else 1
