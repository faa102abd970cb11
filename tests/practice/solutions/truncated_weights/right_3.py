import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    with torch.no_grad():
        zero = torch.zeros((), dtype=log_probs.dtype, device=log_probs.device)
        log_ratio = torch.where(mask, log_probs - engine_log_probs, zero)
        ratio = log_ratio.exp()
        ceiling = torch.full_like(ratio, cap)
        return torch.where(mask, torch.minimum(ratio, ceiling), zero)
