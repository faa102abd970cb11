# Takes the return to begin with the next token's reward, so a token's own is left out.
import torch


def returns(rewards, mask, gamma):
    rewards = torch.where(mask, rewards, torch.zeros_like(rewards))
    answer = torch.zeros_like(rewards)
    for t in range(rewards.shape[1] - 2, -1, -1):
        answer[:, t] = gamma * (rewards[:, t + 1] + answer[:, t + 1])
    return answer * mask
