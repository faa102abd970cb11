"""What the page tells the reader to type, taken from the page."""

import re
import shlex
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs/en/reference/inside_verl.md"
TRAINING = re.compile(
    r"^```bash\n(python3 -m verl\.trainer\.main_ppo .*?)^```", re.MULTILINE | re.DOTALL
)


def overrides() -> list[str]:
    """The settings of the one command that starts a training run."""
    (command,) = TRAINING.findall(PAGE.read_text("utf-8"))
    return [word for word in shlex.split(command.replace("\\\n", "")) if "=" in word]
