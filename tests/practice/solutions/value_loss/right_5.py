import torch


class _Critic:
    def __init__(self, old, goal, reach):
        self.goal = goal
        self.low = old - reach
        self.high = old + reach

    def cost(self, guess):
        return 0.5 * (guess - self.goal) * (guess - self.goal)

    def bounded(self, guess):
        guess = torch.where(guess < self.low, self.low, guess)
        return torch.where(guess > self.high, self.high, guess)

    def token_cost(self, guess):
        free, tied = self.cost(guess), self.cost(self.bounded(guess))
        return torch.where(free >= tied, free, tied)


def value_loss(values, old_values, returns, mask, clip):
    costs = torch.zeros_like(values)
    critic = _Critic(old_values[mask], returns[mask], clip)
    costs[mask] = critic.token_cost(values[mask])
    return costs.sum() / torch.count_nonzero(mask)
