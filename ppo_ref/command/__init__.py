"""What ``python -m ppo_ref`` can do: a module per command.

Each has ``add(parser)``, which names its arguments, and ``run(arguments)``, which gives
the exit code.
"""
