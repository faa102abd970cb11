"""``python -m ppo_ref``: ``main`` reads the command line, ``train`` makes a run.

A run is a ``session`` in a ``run_folder`` with ``settings``; its ``checkpoint`` and its
logs survive a kill; ``processes`` are those that torchrun starts.
"""
