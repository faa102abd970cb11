import torch


class Stats:
    def __init__(self, numbers):
        self.n = numbers.numel()
        self.mean = numbers.mean()
        self.spread = (numbers - self.mean).square().mean()

    def unbiased(self):
        return self.spread * self.n / (self.n - 1)

    def apply(self, numbers):
        return (numbers - self.mean) / (self.unbiased() + 1e-8) ** 0.5


def whiten(x, mask):
    numbers = x[mask]
    out = torch.zeros_like(x)
    out[mask] = Stats(numbers).apply(numbers)
    return out
