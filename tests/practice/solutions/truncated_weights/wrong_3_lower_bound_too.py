# Bounds the weight on both sides, 1 / cap to cap, as if it were PPO's clip.
import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    ratio = torch.exp(log_probs.detach() - engine_log_probs)
    bounded = ratio.clamp(min=1.0 / cap, max=cap)
    return bounded * mask
