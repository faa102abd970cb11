import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    table = []
    for score, prices, flags in zip(scores.tolist(), kl.tolist(), mask.tolist()):
        length = sum(flags)
        row = [0.0] * len(flags)
        for t in range(length):
            row[t] = -kl_coef * prices[t]
        row[length - 1] += score
        table.append(row)
    return torch.tensor(table, dtype=scores.dtype, device=scores.device)
