# Masks pairs of start and end only, so a tool part cut off by the row's end counts.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    mask = torch.zeros_like(token_ids, dtype=torch.bool)
    for i, ids in enumerate(token_ids):
        starts = (ids == tool_start_id).nonzero().flatten().tolist()
        ends = (ids == tool_end_id).nonzero().flatten().tolist()
        by_model = torch.ones_like(ids, dtype=torch.bool)
        for first, last in zip(starts, ends):
            by_model[first : last + 1] = False
        length = len(ids)
        for t in (by_model & (ids == eos_id)).nonzero().flatten().tolist():
            if t + 1 not in starts:
                length = t + 1
                break
        mask[i, :length] = by_model[:length]
    return mask
