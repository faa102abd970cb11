import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    time = mask.shape[1]
    keep = mask.to(values.dtype)
    v = values * keep
    shift = torch.diag(v.new_ones(time - 1), -1)
    delta = rewards * keep + gamma * (v @ shift) - v
    step = torch.arange(time, device=v.device)
    power = (step[:, None] - step[None, :]).clamp(min=0).to(v.dtype)
    decay = torch.pow(gamma * gae_lambda, power).tril()
    return delta @ decay
