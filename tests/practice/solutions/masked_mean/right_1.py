import torch


def masked_mean(x, mask):
    total, count = 0.0, 0
    for numbers, flags in zip(x.tolist(), mask.tolist()):
        for number, flag in zip(numbers, flags):
            if flag:
                total += number
                count += 1
    return torch.tensor(total / count, dtype=x.dtype, device=x.device)
