"""What stands on the GPU: weights, optimizer, engine, cache and logits, counted."""

# --8<-- [start:model]
GIB = 2**30
vocabulary, width, layers = 152_064, 3584, 28
heads, kv_heads, head_dim = 28, 4, 128
inner = 18_944
kv_width = kv_heads * head_dim

attention = 2 * width * width
attention += 2 * width * kv_width
biases = width + 2 * kv_width
mlp = 3 * width * inner
block = attention + biases + mlp + 2 * width
table = vocabulary * width
parameters = layers * block + 2 * table + width

assert heads * head_dim == width
assert 7.6e9 < parameters < 7.7e9
print(f"{parameters / 1e9:.2f} billion")
# --8<-- [end:model]

# --8<-- [start:state]
bf16, fp32 = 2, 4
per_number = {
    "bf16 copy": bf16,
    "gradient": fp32,
    "fp32 weights": fp32,
    "two moments": 2 * fp32,
}
bytes_each = sum(per_number.values())
trained = parameters * bytes_each / GIB
frozen = parameters * bf16 / GIB
assert bytes_each == 9 * bf16
methods = {  # models trained, models frozen
    "PPO, reward model": (2, 2),
    "PPO, rule": (2, 1),
    "GRPO, reference": (1, 1),
    "GRPO": (1, 0),
    "distillation": (1, 1),
}
totals = {}
for name, (learn, wait) in methods.items():
    engine = frozen
    held = learn * trained, wait * frozen, engine
    totals[name] = sum(held)
    cells = "".join(f"{each:8.0f}" for each in held)
    print(f"{name:18}{cells}{sum(held):8.0f}")
assert totals["PPO, rule"] - trained == (
    totals["GRPO, reference"]
)
# --8<-- [end:state]

# --8<-- [start:tokens]
kv_token = 2 * layers * kv_width * bf16
answers, length = 256, 4096
cache = answers * length * kv_token / GIB
tokens = 16_384
logits = tokens * vocabulary * fp32 / GIB
kib = kv_token / 1024
print(f"cache, one token  {kib:.0f} KiB")
print(f"cache, all answers {cache:.0f} GiB")
print(f"logits, fp32      {logits:.1f} GiB")
assert kv_token == 57_344
assert kv_token * heads // kv_heads == 401_408
assert round(logits / frozen, 2) == 0.65
# --8<-- [end:tokens]

# --8<-- [start:shards]
gpus = 8
sharded = {}
parts = parameters / GIB
sizes = {
    "weights": bf16 * parts,
    "gradient": fp32 * parts,
    "optimizer": 3 * fp32 * parts,
}
divides = {
    "replicated": (),
    "ZeRO 1": ("optimizer",),
    "ZeRO 2": ("optimizer", "gradient"),
    "ZeRO 3, FSDP": tuple(sizes),
}
for name, divided in divides.items():
    sharded[name] = sum(
        size / gpus if part in divided else size
        for part, size in sizes.items()
    )
    print(f"{name:14}{sharded[name]:6.0f}")
assert abs(
    sharded["ZeRO 3, FSDP"] * gpus - trained
) < 1e-9
fully = sharded["ZeRO 3, FSDP"]
assert 1.5 * fully < sharded["ZeRO 2"] < 2 * fully
# --8<-- [end:shards]
