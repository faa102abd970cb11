import torch


def _make_cap(cap):
    def capped(weight):
        too_much = weight > cap
        weight[too_much] = cap
        return weight

    return capped


@torch.no_grad()
def truncated_weights(log_probs, engine_log_probs, mask, cap):
    capped = _make_cap(cap)
    result = torch.zeros_like(log_probs, requires_grad=False)
    place = mask.nonzero(as_tuple=True)
    result[place] = capped(torch.exp(log_probs[place] - engine_log_probs[place]))
    return result
