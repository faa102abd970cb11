"""Which figures of a chat has nobody computed? Compute them, then compare."""

# --8<-- [start:check]
printed = "0.887 0.913 0.930 0.951 0.970 0.99"  # R
r = [-0.01, -0.01, -0.01, -0.01, -0.01, 0.99]
R = [sum(r[t:]) for t in range(6)]

def agrees(shown, value):
    decimals = len(shown.partition(".")[2])
    half = 0.5 / 10**decimals  # of its last digit
    return abs(float(shown) - value) <= half + 1e-12

caught = []
for t, shown in enumerate(printed.split()):
    good = agrees(shown, R[t])
    word = "verified" if good else "unverified"
    print(f"R_{t} {shown:6}{R[t]:.3f} {word}")
    caught += [] if good else [t]
assert caught == [0, 1, 2, 3, 4]
# --8<-- [end:check]

# --8<-- [start:fence]
fence = """
token_level_returns = [
    0.887, 0.913, 0.930, 0.951, 0.970, 0.99
]
"""
names = {}
exec(fence, names)
print("it ran, and printed nothing")
returns = names["token_level_returns"]
wrong = max(abs(a - b) for a, b in zip(returns, R))
assert wrong < 0.0005, f"off by up to {wrong:.3f}"
# --8<-- [end:fence]
