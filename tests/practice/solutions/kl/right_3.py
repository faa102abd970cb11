import torch


def kl(log_probs, ref_log_probs):
    both = torch.stack([log_probs, ref_log_probs])
    signs = both.new_tensor([1.0, -1.0])
    d = torch.einsum("n,nbt->bt", signs, both)
    half_square = torch.einsum("bt,bt->bt", d, d).mul(0.5)
    return d, half_square, torch.expm1(-d).add(d)
