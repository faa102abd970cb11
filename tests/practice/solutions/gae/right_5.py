import torch


class LambdaReturn:
    """The recursion G_t = r_t + gamma ((1 - lambda) V_{t+1} + lambda G_{t+1})."""

    def __init__(self, gamma, lam):
        self.gamma = gamma
        self.lam = lam

    def targets(self, rewards, values):
        found = [rewards[-1]]
        for r, v in zip(rewards[:-1].flip(0), values[1:].flip(0)):
            blend = (1 - self.lam) * v + self.lam * found[-1]
            found.append(r + self.gamma * blend)
        return torch.stack(found).flip(0)


def gae(rewards, values, mask, gamma, gae_lambda):
    rule = LambdaReturn(gamma, gae_lambda)
    slots = mask.shape[1]
    rows = []
    for r, v, m in zip(rewards, values, mask):
        advantage = rule.targets(r[m], v[m]) - v[m]
        rows.append(torch.nn.functional.pad(advantage, (0, slots - len(advantage))))
    return torch.stack(rows)
