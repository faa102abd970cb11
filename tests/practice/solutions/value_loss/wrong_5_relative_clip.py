# Reads clip as a relative range like that of the policy ratio: old * (1 +- clip).
import torch


def value_loss(values, old_values, returns, mask, clip):
    edge_a = old_values * (1 - clip)
    edge_b = old_values * (1 + clip)
    low, high = torch.minimum(edge_a, edge_b), torch.maximum(edge_a, edge_b)
    clipped = torch.clamp(values, low, high)
    worst = torch.max((values - returns) ** 2, (clipped - returns) ** 2)
    return 0.5 * worst[mask].mean()
