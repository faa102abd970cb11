import torch


def row_sums_and_counts(x, mask):
    pairs = []
    for row, keep in zip(x.unbind(0), mask.unbind(0)):
        chosen = torch.masked_select(row, keep)
        pairs.append((chosen.sum(), chosen.numel()))
    return pairs


def masked_mean(x, mask):
    pairs = row_sums_and_counts(x, mask)
    tokens = sum(n for _, n in pairs)
    return torch.stack([s for s, _ in pairs]).sum() / tokens
