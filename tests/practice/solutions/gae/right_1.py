import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    table = []
    for rs, vs, flags in zip(rewards.tolist(), values.tolist(), mask.tolist()):
        length = sum(flags)
        row = [0.0] * len(flags)
        next_value, advantage = 0.0, 0.0
        for t in range(length - 1, -1, -1):
            delta = rs[t] + gamma * next_value - vs[t]
            advantage = delta + gamma * gae_lambda * advantage
            row[t] = advantage
            next_value = vs[t]
        table.append(row)
    return torch.tensor(table, dtype=rewards.dtype, device=rewards.device)
