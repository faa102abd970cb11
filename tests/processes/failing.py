"""The command, but for the last process, which finds something in the third step."""

import os
import sys

from ppo_ref.command.main import main
from ppo_ref.training import trainer

collect = trainer.collect_experience
asked = 0


def failing(*given: object) -> object:
    global asked
    asked += 1
    if asked == 3 and os.environ["RANK"] == "1":
        raise ValueError("only the second finds this")
    return collect(*given)


if __name__ == "__main__":
    trainer.collect_experience = failing
    sys.exit(main())
