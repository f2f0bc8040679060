"""``python -m fairfield`` is the command ``fairfield``."""

from fairfield.cli import main

main()
