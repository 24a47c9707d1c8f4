"""``python -m simstudy``, the same as the ``simstudy`` command."""

from simstudy.cli import main

main()
