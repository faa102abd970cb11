import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    step = torch.arange(1, token_ids.size(1) + 1, device=token_ids.device)
    is_start = token_ids == tool_start_id
    is_end = token_ids == tool_end_id
    last_start = (is_start * step).cummax(dim=1).values
    last_end = (is_end * step).cummax(dim=1).values
    in_tool = (last_start > last_end) | is_end

    starts_next = torch.zeros_like(is_start)
    starts_next[:, :-1] = is_start[:, 1:]
    final = (token_ids == eos_id) & ~in_tool & ~starts_next
    over = final.cumsum(dim=1) - final.long() > 0
    return ~in_tool & ~over
