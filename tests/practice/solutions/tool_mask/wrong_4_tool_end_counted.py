# Off by one at the end of a tool's part: tool_end_id is counted as the model's.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    opened = (token_ids == tool_start_id).long().cumsum(dim=1)
    closed = (token_ids == tool_end_id).long().cumsum(dim=1)
    in_tool = opened > closed

    next_ids = torch.full_like(token_ids, eos_id)
    next_ids[:, :-1] = token_ids[:, 1:]
    stop = (token_ids == eos_id) & (next_ids != tool_start_id) & ~in_tool
    stopped_before = stop.long().cumsum(dim=1) - stop.long()
    return ~in_tool & (stopped_before == 0)
