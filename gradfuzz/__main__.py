"""`gradfuzz` on the command line, and `python -m gradfuzz`."""

import io
import sys

from gradfuzz.cli.app import app


def main() -> None:
    """Run the command line and exit with its code."""
    # A terminal that cannot write "±" still gets the rest of the line.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    app(prog_name="gradfuzz")


if __name__ == "__main__":
    main()
