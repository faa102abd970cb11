# Detaches the value in the clipped branch, which halves the gradient where both tie.
import torch


def value_loss(values, old_values, returns, mask, clip):
    move = torch.clamp(values.detach() - old_values, -clip, clip)
    anchored = old_values + move
    free_loss = (values - returns) ** 2
    anchored_loss = (anchored - returns) ** 2
    chosen = torch.max(free_loss, anchored_loss) * 0.5
    return torch.masked_select(chosen, mask).mean()
