"""`python -m servelint`."""

import os
import sys

# -m puts the current folder first: it may be one that is under test, and hold a json.py of its own
if sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from servelint.cli import program

if __name__ == "__main__":
    program()
