"""Judge a dumped batch of a verl run: which stage is not what verl 0.9.1 computes."""

import sys
from argparse import ArgumentParser, Namespace

from ppo_ref.dump import judging, reading


def add(parser: ArgumentParser) -> None:
    """Name the arguments of the command."""
    parser.epilog = (
        f"To make DUMP, in your trainer behind compute_advantage: {reading.WRITE}"
    )
    parser.add_argument("dump", metavar="DUMP", help="a dict of tensors by torch.save")
    parser.add_argument("--gamma", type=float, help="algorithm.gamma; searched if not")
    parser.add_argument("--lam", type=float, help="algorithm.lam; searched if not")
    parser.add_argument(
        "--kl-coef", type=float, help="of KL in rewards; searched if not"
    )
    parser.add_argument("--eos-token-id", type=int, help="judge the mask by it")


def run(arguments: Namespace) -> int:
    """Print the verdicts: 0 if every stage agrees, 1 if one differs, 2 if no dump."""
    try:
        report = judging.judge(
            reading.read(arguments.dump),
            gamma=arguments.gamma,
            gae_lambda=arguments.lam,
            kl_coef=arguments.kl_coef,
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
