import torch


def whiten(x, mask):
    rows, flags = x.tolist(), mask.tolist()
    kept = [v for r, f in zip(rows, flags) for v, on in zip(r, f) if on]
    n = len(kept)
    mean = sum(kept) / n
    variance = sum((v - mean) ** 2 for v in kept) / (n - 1)
    scale = (variance + 1e-8) ** 0.5
    result = []
    for r, f in zip(rows, flags):
        result.append([(v - mean) / scale if on else 0.0 for v, on in zip(r, f)])
    return torch.tensor(result, dtype=x.dtype, device=x.device)
