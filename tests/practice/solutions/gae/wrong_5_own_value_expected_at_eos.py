# Treats EOS like a cut-off episode and bootstraps with the last token's own value.
import torch


def gae(rewards, values, mask, gamma, gae_lambda):
    rows = []
    for r, v, m in zip(rewards, values, mask):
        r, v = r[m], v[m]
        v_next = torch.cat([v[1:], v[-1:]])
        td = r + gamma * v_next - v
        adv = torch.zeros(len(m), dtype=v.dtype, device=v.device)
        running = 0.0
        for t in range(len(td) - 1, -1, -1):
            running = td[t] + gamma * gae_lambda * running
            adv[t] = running
        rows.append(adv)
    return torch.stack(rows)
