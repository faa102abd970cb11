"""What the Makefile calls for python -m site_tools check, with the page in PAGE."""

import os
import sys

from site_tools.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["check", *os.environ.get("PAGE", "").split()]))
