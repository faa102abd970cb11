"""What clip-higher does to entropy in a toy, and what does nothing."""

# --8<-- [start:comment]
import torch
z = torch.tensor([0.0, 1.0, 2.0]).requires_grad_()
p, logp = z.softmax(0), z.log_softmax(0)
mean, H = p.detach() @ -logp, p @ -logp
for loss in mean, H:
    (g,) = torch.autograd.grad(loss, z, None, True)
    print(f"{loss:.2f} {g.norm():.2f}")
assert mean.isclose(H)
# --8<-- [end:comment]

# --8<-- [start:higher]
import torch

good = torch.eye(20)[0].double()  # one good token

def run(high, steps):
    z = -3 * good  # and it is rare
    for _ in range(60):
        old = z.detach().log_softmax(0)
        share = old.exp()
        A = good - share @ good
        for _ in range(steps):
            z = z.detach().requires_grad_()
            r = (z.log_softmax(0) - old).exp()
            near = r.clamp(0.8, 1 + high)
            J = share @ torch.min(r * A, near * A)
            (g,) = torch.autograd.grad(J, z)
            z = z + 2 * g
    p = z.detach().softmax(0)
    return p[0], -(p @ p.log())

print("steps  high  p(good)  entropy")
found = {}
for steps in 1, 4:
    for high in 0.2, 0.28, 1.0:
        p, H = found[steps, high] = run(high, steps)
        row = f"{steps:5} {high:5.2f}"
        print(row, f"{p:8.4f} {H:8.4f}")
assert found[1, 0.2] == found[1, 1.0]
low, high = found[4, 0.2], found[4, 0.28]
assert high[1] < low[1]  # no cure
# --8<-- [end:higher]
