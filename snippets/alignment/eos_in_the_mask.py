"""Does EOS count in the loss? The push that one choice gets, with EOS in and out."""

# --8<-- [start:stop]
import torch

logit = torch.tensor(0.0, requires_grad=True)
p_stop = logit.sigmoid()  # EOS: one half
p_go_on = 1 - p_stop

def push(goal):  # on the logit of EOS
    (g,) = torch.autograd.grad(
        goal, logit, retain_graph=True
    )
    return g.item()

mean = 0.5  # of the group; subtracted
print("stop go on   true EOS in EOS out")
for stop, go_on in (1, 1), (1, 0):
    true = push(p_stop * stop + p_go_on * go_on)
    # Each of the two is sampled half of the time.
    eos = 0.5 * (stop - mean) * p_stop.log()
    other = 0.5 * (go_on - mean) * p_go_on.log()
    eos_in, eos_out = push(eos + other), push(other)
    row = f"{stop:4} {go_on:5} {true:6.3f}"
    print(f"{row} {eos_in:6.3f} {eos_out:7.3f}")
    assert eos_in == true != eos_out
# --8<-- [end:stop]

# --8<-- [start:forced]
for score in 1, 0:
    # Sampled or not, EOS is written: same score.
    true = push(p_stop * score + p_go_on * score)
    trained = push((score - mean) * p_stop.log())
    row = f"score {score}: true {true:.3f}"
    print(f"{row}, trained {trained:.3f}")
    assert true == 0 != trained
# --8<-- [end:forced]
