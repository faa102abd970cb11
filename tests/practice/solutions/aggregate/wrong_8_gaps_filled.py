# Treats a response as one span from its first to its last token, gaps included.
import torch


def aggregate(losses, mask, mode):
    spans = []
    for i in range(losses.size(0)):
        positions = torch.nonzero(mask[i]).flatten()
        first, last = int(positions[0]), int(positions[-1])
        spans.append(losses[i, first : last + 1])
    if mode == "token-mean":
        return torch.cat(spans).mean()
    if mode == "seq-mean-token-mean":
        return sum(span.mean() for span in spans) / len(spans)
    return sum(span.sum() for span in spans) / len(spans)
