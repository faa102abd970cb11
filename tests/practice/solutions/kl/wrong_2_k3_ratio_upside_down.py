# Puts actor / reference as the ratio into k3, as it stands in PPO, not its inverse.
import torch


def kl(log_probs, ref_log_probs):
    log_ratio = log_probs - ref_log_probs
    ratio = torch.exp(log_ratio)
    return log_ratio, 0.5 * log_ratio.square(), ratio - 1 - log_ratio
