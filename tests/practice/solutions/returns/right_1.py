import torch


def returns(rewards, mask, gamma):
    result = []
    for numbers, flags in zip(rewards.tolist(), mask.tolist()):
        running = 0.0
        row = []
        for number, flag in zip(reversed(numbers), reversed(flags)):
            if flag:
                running = number + gamma * running
                row.insert(0, running)
            else:
                row.insert(0, 0.0)
        result.append(row)
    return torch.tensor(result, dtype=rewards.dtype, device=rewards.device)
