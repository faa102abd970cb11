"""Token-level PPO for language models, written to be read and to be checked against.

A module sees only the floors below its own; a stage (floor 2) imports no stage.

    3   trace
    2   log_probs  rewards  values  advantages  losses
    1   masking  aggregation  alignment  kl  packing  clipping  examples
    0   shapes  checks  ranges  precision

Data flows log_probs -> rewards -> values -> advantages -> losses. Nothing is
re-exported: ``from ppo_ref.advantages import gae`` says where to read.
"""
