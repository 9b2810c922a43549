"""Write the page of calibrated estimators: python -m tests.calibration --page FILE."""

import argparse
import warnings
from pathlib import Path

from tests.calibration.page import PAGE, all_cases, page


def main() -> None:
    """Calibrate all estimators, and print or write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.calibration", description=__doc__)
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, help="the file to write")
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a law may return no number
        text = page(all_cases())
    if given.page is None:
        print(text)
    else:
        given.page.write_text(text, encoding="utf-8")


main()
