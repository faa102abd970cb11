"""Token-level PPO for language models, written to be read and to be checked against.

A module sees only the floors below its own; a stage (floor 3) imports no stage. A
folder counts as one module.

    9   __main__  verl_plugin
    8   command  inside_verl
    7   tiny
    6   trainer  named_estimates
    5   experience  update  imitation  broken  dump  chunked_losses
    4   trace  asserts  outputs  estimate  gradients  statistics  stored_runs
    4   chunked_log_probs  loss_chunks
    3   rollout  reward  log_probs  rewards  values  advantages  losses
    3   group_advantages  reinforce  rollout_correction  diagnostics  learners
    3   pretrained
    2   tokenizer  tasks  batch  models  config  examples
    2   masking  aggregation  alignment  kl  kl_control  packing  grouping  clipping
    2   logit_blocks  head_chunks
    1   shapes  schedule  processes  doubling  logit_rows  head_products
    1   transformer
    0   refusals  checks  ranges  precision  generators  body  chart
    0   replicas  sharding

Data flows tasks -> rollout -> reward -> log_probs -> values -> rewards -> advantages
-> [experience] -> losses -> update -> trainer. Nothing is re-exported:
``from ppo_ref.advantages import gae`` says where to read.
"""
