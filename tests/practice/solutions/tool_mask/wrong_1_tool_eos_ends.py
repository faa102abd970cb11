# Takes an EOS inside what a tool returned for the end of the response.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    result = torch.zeros_like(token_ids, dtype=torch.bool)
    for b, ids in enumerate(token_ids.tolist()):
        inside = False
        for t, token in enumerate(ids):
            if token == tool_start_id:
                inside = True
            result[b, t] = not inside
            if token == tool_end_id:
                inside = False
            following = ids[t + 1] if t + 1 < len(ids) else None
            if token == eos_id and following != tool_start_id:
                break
    return result
