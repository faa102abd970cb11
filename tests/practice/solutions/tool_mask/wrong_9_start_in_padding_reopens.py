# Lets a tool start open a tool part anywhere, so one in the padding revives the row.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    batch, width = token_ids.shape
    writer = torch.zeros(batch, width, dtype=torch.bool)
    for b in range(batch):
        who = "model"
        for t in range(width):
            token = int(token_ids[b, t])
            if token == tool_start_id:
                who = "tool"
            writer[b, t] = who == "model"
            if who == "tool" and token == tool_end_id:
                who = "model"
            elif who == "model" and token == eos_id:
                who = "nobody"
    return writer
