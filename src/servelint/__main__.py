"""`python -m servelint`."""

import sys

from servelint.cli import main

if __name__ == "__main__":
    sys.exit(main())
