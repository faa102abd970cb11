"""Token-level PPO for language models, written to be read and to be checked against.

A module sees only the floors below its own; a stage (floor 3) imports no stage. A
folder counts as one module.

    6   command
    5   dump
    4   trace  asserts
    3   log_probs  rewards  values  advantages  losses
    2   masking  aggregation  alignment  kl  packing  clipping  examples
    1   shapes
    0   refusals  checks  ranges  precision

Data flows log_probs -> rewards -> values -> advantages -> losses. Nothing is
re-exported: ``from ppo_ref.advantages import gae`` says where to read.
"""
