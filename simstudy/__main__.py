"""``python -m simstudy``, the same as the ``simstudy`` command."""

from simstudy.cli.app import main

main()
