# Thinks that EOS is no token of the answer, so the score goes to the token before it.
import torch


def token_level_rewards(scores, kl, mask, kl_coef):
    out = torch.zeros_like(kl)
    for b in range(len(scores)):
        n = int(mask[b].sum())
        out[b, :n] = -kl_coef * kl[b, :n]
        last_content = max(n - 2, 0)
        out[b, last_content] += scores[b]
    return out
