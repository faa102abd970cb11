"""``python -m ppo_ref``: see ``ppo_ref.command.main``."""

import sys

from ppo_ref.command.main import main

if __name__ == "__main__":
    sys.exit(main())
