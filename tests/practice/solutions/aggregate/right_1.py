import torch


def aggregate(losses, mask, mode):
    sums, counts = [], []
    for loss_row, mask_row in zip(losses, mask):
        total, count = 0.0, 0
        for loss, keep in zip(loss_row, mask_row.tolist()):
            if keep:
                total = total + loss
                count += 1
        sums.append(total)
        counts.append(count)
    if mode == "token-mean":
        return torch.stack(sums).sum() / sum(counts)
    if mode == "seq-mean-token-mean":
        return sum(s / n for s, n in zip(sums, counts)) / len(sums)
    if mode == "seq-mean-token-sum":
        return sum(sums) / len(sums)
    raise ValueError(mode)
