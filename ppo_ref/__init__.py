"""Token-level PPO for language models, written to be read and to be checked against.

A module sees only the floors below its own; a stage (floor 3) imports no stage. A
folder counts as one module.

    7   __main__  verl_plugin
    6   command  inside_verl
    5   train  check  practice
    4   trace  clip_variants
    3   log_probs  rewards  advantages  group_advantages  losses
    3   rollout_correction  diagnostics  chunked
    2   alignment  masking  aggregation  kl  kernels
    1   examples  batch
    0   require  precision
    0   loops

``loops`` stands apart: the definitions, one screen each, to which all else is held. It
imports nothing of the package, and no stage imports it: it judges them, and in
``practice`` what a learner wrote.

Data flows tasks -> rollout -> reward -> log_probs -> values -> rewards -> advantages
-> [experience] -> losses -> update -> trainer: the stages between them are the modules
here, what surrounds them is in ``train``. Nothing is re-exported:
``from ppo_ref.advantages import gae`` says where to read.
"""
