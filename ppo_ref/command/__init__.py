"""``python -m ppo_ref``: ``main`` reads the command line, a command is a module.

``train`` makes a run, ``view`` shows it in the browser, ``check`` judges a dump.
A run is a ``session`` in a ``run_folder`` with ``settings``; its ``checkpoint`` and its
logs survive a kill.
"""
