"""``python -m ppo_ref``: see ``ppo_ref.command.line``."""

import sys

from ppo_ref.command.line import main

if __name__ == "__main__":
    sys.exit(main())
