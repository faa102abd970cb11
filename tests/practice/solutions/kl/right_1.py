import torch


def kl(log_probs, ref_log_probs):
    first, second, third = [], [], []
    for row, ref_row in zip(log_probs, ref_log_probs):
        a, b, c = [], [], []
        for lp, ref in zip(row, ref_row):
            diff = lp - ref
            a.append(diff)
            b.append(0.5 * diff * diff)
            c.append(torch.exp(ref - lp) - 1 + diff)
        first.append(torch.stack(a))
        second.append(torch.stack(b))
        third.append(torch.stack(c))
    return torch.stack(first), torch.stack(second), torch.stack(third)
