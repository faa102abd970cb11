"""The critic as a network: a number at each position, one body for all prefixes."""

# --8<-- [start:head]
import torch
from torch import nn
from ppo_ref.examples import world

w = world()
torch.manual_seed(0)
embed = nn.Embedding(100, 16)
body = nn.GRU(16, 16, batch_first=True)
head = nn.Linear(16, 1)  # the value head
net = nn.ModuleList([embed, body, head]).double()

def every_position(ids):
    hidden, _ = body(embed(ids))
    return head(hidden)[:, :, 0]

prompt = torch.tensor([90, 91, 92]).repeat(14, 1)
ids = torch.cat([prompt, w.responses], 1)
out = every_position(ids)
print(tuple(ids.shape), "->", tuple(out.shape))
# --8<-- [end:head]

# --8<-- [start:slice]
def critic(ids):
    # The six slots are -6 to -1: one to the left.
    return every_position(ids)[:, -7:-1]

V = critic(ids).detach()
no_idea = [9, 11]  # "No idea." and "No idea, ..."
differ = V[no_idea[0]] != V[no_idea[1]]
print(tuple(V.shape))
print(differ.int().tolist())
# --8<-- [end:slice]

# --8<-- [start:one_answer]
mask = w.response_mask
G = w.scores[:, None] * mask

def loss_of(weights):  # how often each answer comes
    errors = (critic(ids) - G) * mask
    squares = errors.square().sum(1)
    tokens = weights @ mask.sum(1).double()
    return weights @ squares / (2 * tokens)

one = torch.zeros(14, dtype=torch.float64)
one[9] = 1  # "No idea." alone
pulls = torch.autograd.grad(
    loss_of(one), net.parameters(),
)
with torch.no_grad():
    for x, g in zip(net.parameters(), pulls):
        x -= 0.1 * g  # one step of descent
moved = critic(ids).detach() - V
with torch.no_grad():
    for x, g in zip(net.parameters(), pulls):
        x += 0.1 * g  # and back again
first = {"No": 9, "Yes": 0, "Let": 13}
for word, row in first.items():
    print(f"after {word:3} {moved[row, 1]:+.3f}")
# --8<-- [end:one_answer]

# --8<-- [start:train]
P = w.response_probs(w.edge_log_probs)
exact = w.exact_values
adam = torch.optim.Adam(net.parameters(), lr=0.01)

def show(step):
    V = critic(ids).detach()
    after = V[list(first.values()), 1]
    cells = (f"{v:z5.2f}" for v in after)
    print(f"{step:4}", *cells, f"{loss_of(P):8.4f}")
    return V

print("step    No   Yes   Let     loss")
start = show(0)
for step in range(1, 501):
    adam.zero_grad()
    loss_of(P).backward()
    adam.step()
    if step in (20, 100, 500):
        V = show(step)
right = exact[list(first.values()), 1]
print("V   ", *(f"{v:5.2f}" for v in right))
# --8<-- [end:train]

# --8<-- [start:fresh]
logits = w.edge_log_probs.clone().requires_grad_()

def gradient(A):  # of J, as in step 4
    log_probs = w.log_softmax(logits)
    pushes = A * w.token_log_probs(log_probs)
    mean = P @ pushes.sum(1)
    (g,) = torch.autograd.grad(mean, logits)
    return g

baselines = {"none": 0 * G, "fresh V": start}
baselines["V"] = exact
for name, b in baselines.items():
    g = gradient((G - b) * mask)
    roots = (f"{x:7.4f}" for x in g[w.parents == 0])
    print(f"{name:7}", *roots)
    assert g.allclose(gradient(G * mask))
# --8<-- [end:fresh]

# --8<-- [start:last_slot]
tokens = mask[9].sum().item()
print(tokens, "of", ids.shape[1])
# --8<-- [end:last_slot]

# --8<-- [start:from_the_front]
every = every_position(ids)
print(every[:, 2:8].equal(critic(ids)))
# --8<-- [end:from_the_front]
