import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    batch = token_ids.size(0)
    model = torch.ones(batch, dtype=torch.bool, device=token_ids.device)
    tool = torch.zeros_like(model)
    ended = torch.zeros_like(model)
    columns = []
    for ids in token_ids.unbind(dim=1):
        tool = tool | (ended & (ids == tool_start_id))
        model = model & ~ended
        columns.append(model)
        ended = model & (ids == eos_id)
        back = tool & (ids == tool_end_id)
        tool = tool & ~back
        model = model | back
    return torch.stack(columns, dim=1)
