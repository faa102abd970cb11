# Takes the mask's count as a length and uses the first tokens, which gaps make wrong.
import torch


def aggregate(losses, mask, mode):
    lengths = mask.sum(dim=1).tolist()
    responses = [row[:length] for row, length in zip(losses, lengths)]
    if mode == "token-mean":
        return torch.cat(responses).mean()
    if mode == "seq-mean-token-mean":
        return torch.stack([r.mean() for r in responses]).mean()
    return torch.stack([r.sum() for r in responses]).mean()
