import torch


def policy_loss(log_probs, old_log_probs, advantages, mask, clip):
    batch, time = mask.shape
    total, count = 0.0, 0
    for row in range(batch):
        for step in range(time):
            if not mask[row, step]:
                continue
            advantage = float(advantages[row, step])
            ratio = torch.exp(log_probs[row, step] - old_log_probs[row, step])
            limited = torch.clamp(ratio, 1 - clip, 1 + clip)
            total = total + torch.minimum(ratio * advantage, limited * advantage)
            count += 1
    return -total / count
