# Accumulates from the first token on: what was received up to a token, not from it on.
import torch


def returns(rewards, mask, gamma):
    table = []
    for row, keep in zip(rewards, mask):
        so_far = torch.zeros_like(row[0])
        line = []
        for reward, on in zip(row, keep):
            if on:
                so_far = gamma * so_far + reward
                line.append(so_far)
            else:
                line.append(torch.zeros_like(reward))
        table.append(torch.stack(line))
    return torch.stack(table)
