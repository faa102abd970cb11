"""What a contributor types: one module a command, over the checks of the site.

Each has ``HELP``, a line; ``EXAMPLES``, shown under ``--help``; ``options``, which
names its arguments; and ``run``, which returns what the shell is told. What they
say is written in English and leaves through ``Talk``, which puts it into the
contributor's language.
"""
