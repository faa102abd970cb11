import torch


def one_response(score, prices, slots, kl_coef):
    charged = prices.mul(-kl_coef)
    head, tail = charged[:-1], charged[-1:]
    filler = charged.new_zeros(slots - len(charged))
    return torch.cat([head, tail + score, filler])


def token_level_rewards(scores, kl, mask, kl_coef):
    slots = mask.shape[1]
    return torch.stack(
        [
            one_response(score, row[keep], slots, kl_coef)
            for score, row, keep in zip(scores, kl, mask)
        ]
    )
