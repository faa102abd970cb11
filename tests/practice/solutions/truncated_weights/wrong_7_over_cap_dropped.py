# Sets a weight above the cap to 0, which is masking, instead of truncating it to cap.
import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    is_ratio = torch.exp(log_probs.detach() - engine_log_probs.detach())
    keep = mask & (is_ratio <= cap)
    return torch.where(keep, is_ratio, torch.zeros_like(is_ratio))
