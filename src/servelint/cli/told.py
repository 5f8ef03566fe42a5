"""What is said on standard error: names of files and messages are other people's, and a terminal or a CI log reads them."""

from __future__ import annotations

import sys

from servelint.report.clean import clean_lines


def tell(text: object) -> None:
    """Print a text, which may have several lines."""
    print(clean_lines(str(text)), file=sys.stderr)
