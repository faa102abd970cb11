# Takes the ratio the wrong way round, engine over trainer.
import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    with torch.no_grad():
        weights = torch.exp(engine_log_probs - log_probs)
        weights = torch.clamp(weights, max=cap)
        return torch.where(mask, weights, torch.zeros_like(weights))
