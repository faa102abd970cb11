"""What the run viewer shows, read in Python; and a batch of verl as JSON, for it."""

# --8<-- [start:runs]
from ppo_ref.train.stored_runs import stored_run

for name in "healthy", "flipped_sign":
    run = stored_run(name)
    score = run.column("score")[20 - 1]
    said = [
        record["says"] for record in run.records
        if record["record"] == "watched"
    ]
    print(f"{name:12} {score:.2f}  {said[20]}")
# --8<-- [end:runs]

# --8<-- [start:json]
import json
import torch

def write_json(
    tensors, path, tokenizer=None, rows=16
):
    dump = {
        name: x[:rows].tolist()
        for name, x in tensors.items()
        if torch.is_tensor(x) and x.ndim == 2
    }
    if tokenizer and "responses" in dump:
        dump["tokens"] = [
            [tokenizer.decode([i]) for i in row]
            for row in dump["responses"]
        ]
    with open(path, "w") as file:
        json.dump(dump, file)
# --8<-- [end:json]

# --8<-- [start:written]
from ppo_ref.examples import shared_batch

device = "cpu"  # or "cuda"
batch = shared_batch(device)
write_json(
    {
        "response_mask": batch.response_mask,
        "values": batch.values,
        "old_log_probs": batch.old_log_probs,
        "ref_log_prob": batch.ref_log_probs,
    },
    "dump.json",
)
with open("dump.json") as file:
    print(*json.load(file))
# --8<-- [end:written]
