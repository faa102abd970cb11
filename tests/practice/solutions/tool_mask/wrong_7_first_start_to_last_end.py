# Masks one block from the first tool start to the last tool end, with turns between.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    masks = []
    for ids in token_ids.tolist():
        # where the response ends
        end, in_tool = len(ids), False
        for t, token in enumerate(ids):
            if in_tool:
                in_tool = token != tool_end_id
            elif token == tool_start_id:
                in_tool = True
            elif token == eos_id and ids[t + 1 : t + 2] != [tool_start_id]:
                end = t + 1
                break
        row = torch.zeros(len(ids), dtype=torch.bool)
        row[:end] = True
        # what the environment wrote
        response = ids[:end]
        if tool_start_id in response:
            first = response.index(tool_start_id)
            last = end
            if tool_end_id in response and not in_tool:
                last = end - response[::-1].index(tool_end_id)
            row[first:last] = False
        masks.append(row)
    return torch.stack(masks)
