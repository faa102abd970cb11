import torch


def _standardised(points):
    if torch.equal(points, points[:1].expand_as(points)):
        return torch.zeros_like(points)
    std, mean = torch.std_mean(points, correction=1)
    return torch.sub(points, mean).div(std.add(1e-6))


def _undo(order):
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    return back


def group_advantages(scores, groups):
    by_prompt, order = torch.sort(groups, stable=True)
    _, sizes = torch.unique_consecutive(by_prompt, return_counts=True)
    chunks = scores[order].split(sizes.tolist())
    return torch.cat([_standardised(chunk) for chunk in chunks])[_undo(order)]
