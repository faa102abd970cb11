"""Judge one dumped batch of a trainer, stage by stage, or the figures of a log."""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from textwrap import fill, indent

from ppo_ref.check.doctor.judging import judge
from ppo_ref.check.doctor.reading import SeveralRuns, decode, read_log
from ppo_ref.check.doctor.report import report
from ppo_ref.check.dump import judging, reading
from ppo_ref.check.dump.groups import ESTIMATORS, OTHER, WHITENED
from ppo_ref.check.dump.trainers import WRITTEN
from ppo_ref.command.run_folder import STATISTICS
from ppo_ref.command.terminal import printable

EXIT_CODES = """\
Exit code: 0 nothing wrong found; 1 a line says look, or the advantages of a
dump could not be computed again; 2 DUMP is neither a dump nor a log; 3 a line
of a dump says FAIL, a figure of a log is broken. Lines of a dump with - were
not compared, and notes of a log do not count."""


def add(parser: ArgumentParser) -> None:
    """Name the arguments of the command."""
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = f"{EXIT_CODES}\n\nThe lines that make DUMP, in your trainer:\n"
    for written in WRITTEN:
        place = fill(written.place, 76)
        parser.epilog += f"\n{place}\n\n{indent(written.lines, '    ')}\n"
    help = "tensors by torch.save or numpy.savez; or a log, or the folder of a run"
    parser.add_argument("dump", metavar="DUMP", help=help)
    parser.add_argument("--gamma", type=float, help="algorithm.gamma, else 1")
    parser.add_argument("--lam", type=float, help="algorithm.lam, else 1")
    parser.add_argument("--kl-coef", type=float, help="of the KL in the rewards")
    parser.add_argument(
        "--estimator",
        choices=["gae", "reinforce_plus_plus", *ESTIMATORS, *WHITENED, OTHER],
        help=f"algorithm.adv_estimator, else by the numbers; {OTHER}: none of these",
    )
    help = "of a log that holds several runs, the one that is meant"
    parser.add_argument("--run", dest="of_run", metavar="NAME", help=help)
    parser.add_argument("--eos-token-id", type=int, help="judge the mask by it")


def run(arguments: Namespace) -> int:
    """Print the verdicts; the exit code says what was found, as ``--help`` has it.

    A log is judged by its figures, a dump by its tensors.
    """
    if log := _log(Path(arguments.dump)):
        return _run_log(log, arguments.of_run)
    try:
        verdicts = judging.judge(
            reading.read(arguments.dump),
            gamma=arguments.gamma,
            gae_lambda=arguments.lam,
            kl_coef=arguments.kl_coef,
            estimator=arguments.estimator,
            eos_token_id=arguments.eos_token_id,
        )
    except (TypeError, ValueError) as error:
        return _refuse(str(error))
    except (IndexError, OverflowError, RuntimeError) as error:
        # Of a stranger's tensors: what shape and layout they have is theirs.
        sentence = str(error).partition("\n")[0]
        return _refuse(f"{arguments.dump}: cannot be judged: {sentence}")
    print(printable(str(verdicts)))
    return verdicts.exit_code


def _refuse(sentence: str) -> int:
    print(printable(sentence), file=sys.stderr)
    return 2


def _log(path: Path) -> Path | None:
    """The log that is meant, if a text file or the folder of a run is named."""
    if path.is_dir():
        return path / STATISTICS if (path / STATISTICS).is_file() else None
    if not path.is_file():
        return None
    with path.open("rb") as file:
        start = file.read(4096)
    wide = start.startswith((b"\xff\xfe", b"\xfe\xff"))  # UTF-16, full of zeros
    binary = start[:2] == b"PK" or start[:1] == b"\x80" or b"\0" in start
    return None if binary and not wide else path


def _run_log(path: Path, run: str | None) -> int:
    try:
        log = read_log(decode(path.read_bytes()), run)
    except SeveralRuns as error:
        return _refuse(f"{path}: {error} (--run NAME)")
    except ValueError as error:
        return _refuse(f"{path}: neither a dump nor a log: {error}")
    found = judge(log)
    print(printable(report(log, found)))
    levels = {finding.level for finding in found}
    if "broken" in levels:
        return 3
    return 1 if "look" in levels else 0
