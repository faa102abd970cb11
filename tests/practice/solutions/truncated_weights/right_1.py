import math

import torch


def truncated_weights(log_probs, engine_log_probs, mask, cap):
    limit = math.log(cap)
    rows = []
    for new_row, engine_row, keep_row in zip(
        log_probs.tolist(), engine_log_probs.tolist(), mask.tolist()
    ):
        row = []
        for new, engine, keep in zip(new_row, engine_row, keep_row):
            if not keep:
                row.append(0.0)
            elif new - engine >= limit:
                row.append(float(cap))
            else:
                row.append(math.exp(new - engine))
        rows.append(row)
    return torch.tensor(rows, dtype=log_probs.dtype, device=log_probs.device)
