"""Sequences packed into one row: what must be cut."""

# --8<-- [start:comment]
import torch

x = torch.arange(10.0).view(5, 2).sin()
sequence = torch.tensor([0, 0, 0, 1, 1])
causal = torch.ones(5, 5).tril().bool()
same = sequence[:, None] == sequence

off = {}
for name, sees in (
    ("not separated", causal),
    ("separated", causal & same),
):
    scores = x @ x.T
    scores = scores.masked_fill(~sees, -torch.inf)
    packed = scores.softmax(1) @ x
    alone = x[3]  # it sees only itself
    off[name] = packed[3] - alone
    cells = (f"{v:7.4f}" for v in off[name])
    print(f"{name:13}", *cells)
assert not off["separated"].any()
assert off["not separated"].abs().min() > 0.1
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
# How positions are counted: the second sequence
# begins again at 0, or it runs on at 3.
again = torch.tensor([0, 1, 2, 0, 1]).double()
on = torch.arange(5).double()


def by_mask(at):  # which sequence, given apart
    return torch.tensor([0, 0, 0, 1, 1])


def by_zeros(at):  # each 0 begins a sequence
    return at.eq(0).cumsum(0)


def gap(separated, at, rope):
    """The second sequence: packed minus alone."""
    one = torch.zeros(2)  # a single sequence
    alone = attend(seqs[1], one, on[:2], rope)
    packed = attend(x, separated(at), at, rope)[3:]
    return (packed - alone).abs().max()


print("separated  begins at  RoPE  learned")
gaps = {}
for name, separated, at in (
    ("by mask", by_mask, again),
    ("by mask", by_mask, on),
    ("by zeros", by_zeros, again),
    ("by zeros", by_zeros, on),
):
    begins = int(at[3])
    rope = gap(separated, at, rope=True)
    learned = gap(separated, at, rope=False)
    gaps[name, begins] = rope, learned
    row = f"{name:9}  {begins:9}  {rope:.2f}"
    print(f"{row}  {learned:7.2f}")

assert max(gaps["by mask", 0]) < 1e-12
assert max(gaps["by zeros", 0]) < 1e-12
assert gaps["by mask", 3][0] < 1e-12  # RoPE
assert gaps["by mask", 3][1] > 0.01  # learned
assert min(gaps["by zeros", 3]) > 0.01
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
