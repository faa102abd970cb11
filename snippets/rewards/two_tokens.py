"""An actor and a reference over every response of two tokens, and slopes by logit.

Two pages begin with it: a block there shows it above the page's own lines.
"""

# --8<-- [start:tree]
import torch
from ppo_ref.kl import kl_k1

device = "cpu"  # or "cuda"
torch.manual_seed(0)
z, ref = torch.randn(2, 4, 3).double().to(device)
z.requires_grad_()  # row 0: token 0
actor = z.log_softmax(1)  # row 1 + a: after a
ref = ref.log_softmax(1)

def rows(table):  # a row for each of nine responses
    first = table[0][:, None].expand(3, 3)
    both = torch.stack([first, table[1:]], 2)
    return both.view(9, 2)

def slope(y):
    z.grad = None
    y.backward(retain_graph=True)
    return z.grad

both = {
    "log_probs": rows(actor),
    "ref_log_probs": rows(ref),
}
weight = both["log_probs"].sum(1).exp()
chance = weight.detach()  # sampled: data
k1 = kl_k1(**both)
to_go = k1.flip(1).cumsum(1).flip(1)

def reward(cost):  # each token pays its cost
    paid = cost.detach() * both["log_probs"]
    return chance @ paid.sum(1)
# --8<-- [end:tree]
