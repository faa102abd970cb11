# Thinks padding is always EOS: strips the EOS run at the end of a row but for one.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    mask = torch.ones_like(token_ids, dtype=torch.bool)
    for i, row in enumerate(token_ids.tolist()):
        in_tool = False
        for j, token in enumerate(row):
            if token == tool_start_id:
                in_tool = True
            if in_tool:
                mask[i, j] = False
            if token == tool_end_id:
                in_tool = False
        length = len(row)
        while length > 1 and row[length - 1] == row[length - 2] == eos_id:
            length -= 1
        mask[i, length:] = False
    return mask
