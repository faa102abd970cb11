import torch


def whiten(x, mask):
    flat = x.reshape(-1)
    where = mask.reshape(-1).nonzero().squeeze(-1)
    picked = flat.index_select(0, where)
    centred = picked - picked.mean()
    variance = torch.dot(centred, centred) / (len(picked) - 1)
    scaled = centred / torch.sqrt(variance + 1e-8)
    return torch.zeros_like(flat).index_copy(0, where, scaled).view(x.shape)
