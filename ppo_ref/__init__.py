"""Token-level PPO for language models, written to be read and to be checked against.

A module sees only the floors below its own; a stage (floor 3) imports no stage. A
folder counts as one module.

    9   __main__
    8   command
    7   tiny
    6   trainer
    5   experience  update  imitation  broken  dump
    4   trace  asserts  outputs  estimate  gradients  statistics  stored_runs
    3   rollout  reward  log_probs  rewards  values  advantages  losses
    3   rollout_correction  diagnostics  learners
    2   tokenizer  tasks  batch  models  config  examples
    2   masking  aggregation  alignment  kl  packing  clipping
    1   shapes  schedule
    0   refusals  checks  ranges  precision  generators  transformer  chart

Data flows tasks -> rollout -> reward -> log_probs -> values -> rewards -> advantages
-> [experience] -> losses -> update -> trainer. Nothing is re-exported:
``from ppo_ref.advantages import gae`` says where to read.
"""
