"""Sequences packed into one row: what must be cut."""

# --8<-- [start:comment]
import torch

x = torch.arange(10.0).view(5, 2).sin()
seq = torch.tensor([0, 0, 0, 1, 1])  # packed
causal = torch.ones(5, 5).tril().bool()
for m in causal, causal & (seq[:, None] == seq):
    w = (x @ x.T).masked_fill(~m, -torch.inf)
    print((w.softmax(1) @ x - x)[3])  # less alone
# --8<-- [end:comment]

# --8<-- [start:rope]
import torch

torch.manual_seed(0)
table = torch.randn(9, 4).double()  # learned places
q, k = torch.randn(2, 4, 4).double()


def rotate(x, at):  # RoPE: two pairs, two speeds
    angle = at[:, None] * torch.tensor([1.0, 0.1])
    one = torch.ones(()).double()
    turn = torch.polar(one, angle)
    z = torch.view_as_complex(x.view(-1, 2, 2))
    return torch.view_as_real(z * turn).view(-1, 4)


def attend(x, seq, at, rope=True):
    if not rope:
        x = x + table[at.long()]
    a, b = (x @ q, x @ k)
    if rope:
        a, b = rotate(a, at), rotate(b, at)
    keep = (seq[:, None] == seq).tril()
    scores = a @ b.T
    scores = scores.masked_fill(~keep, -torch.inf)
    return scores.softmax(1) @ x


seqs = torch.randn(3, 4), torch.randn(2, 4)
seqs = [x.double() for x in seqs]
x = torch.cat(seqs)
block = torch.tensor([0, 0, 0, 1, 1])
on = torch.arange(5).double()
reset = torch.tensor([0, 1, 2, 0, 1]).double()
found = reset.eq(0).cumsum(0)  # at each 0
one = on.eq(0).cumsum(0)
gaps = []
print("positions  attention  continued   off by")
for rope, cut, seq, at in (
    (True, "by mask", block, reset),
    (True, "by mask", block, on),
    (True, "by zeros", found, reset),
    (True, "by zeros", one, on),
    (False, "by mask", block, reset),
    (False, "by mask", block, on),
):
    zero = 0 * block[:2]
    alone = attend(seqs[1], zero, on[:2], rope)
    packed = attend(x, seq, at, rope)[3:]
    gaps.append((packed - alone).abs().max())
    kind = "RoPE" if rope else "learned"
    late = "yes" if at is on else "no"
    cells = f"{kind:10} {cut:10} {late:9}"
    print(f"{cells} {gaps[-1]:8.2f}")
assert max(*gaps[:3], gaps[4]) < 1e-12
assert min(gaps[3], gaps[5]) > 0.01
# --8<-- [end:rope]

# --8<-- [start:loss]
from ppo_ref import aggregation

apart = torch.tensor([[1.0, 1, 1], [6, 0, 0]])
mask = torch.tensor([[1, 1, 1], [1, 0, 0]]).bool()
packed = apart[mask][None]  # one row of four
full = torch.ones(1, 4).bool()
print(f"{'':24} padded packed")
means = {}
for name in (
    "token_mean",
    "sequence_mean_token_mean",
):
    function = getattr(aggregation, name)
    here = function(apart, mask).item()
    there = function(packed, full).item()
    print(f"{name:24} {here:6.2f} {there:6.2f}")
    means[name] = [here, there]
per_token, per_response = means.values()
assert per_token == [2.25, 2.25]
assert per_response == [3.5, 2.25]
# --8<-- [end:loss]

# --8<-- [start:eos]
eos = torch.randn(1, 4).double()
x = torch.cat([seqs[0], eos, seqs[1]])
uncut = torch.zeros(6).long()
at = torch.tensor([0, 1, 2, 3, 0, 1]).double()
alone = attend(seqs[1], uncut[:2], on[:2])
gap = (attend(x, uncut, at)[4:] - alone).abs()
print(f"off by {gap.max():.2f}")
assert gap.max() < 1e-12, "EOS separates them"
# --8<-- [end:eos]
