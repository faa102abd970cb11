import torch


def value_loss(values, old_values, returns, mask, clip):
    losses = []
    for i in range(values.size(0)):
        for j in range(values.size(1)):
            if mask[i, j]:
                v = values[i, j]
                old = float(old_values[i, j])
                target = float(returns[i, j])
                near = v.clamp(old - clip, old + clip)
                worse = torch.maximum((v - target) ** 2, (near - target) ** 2)
                losses.append(worse / 2)
    return torch.stack(losses).mean()
