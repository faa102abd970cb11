# Thinks that EOS is a separator and not written by the model, so it gets no True.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    rows = []
    for ids in token_ids.tolist():
        flags = []
        in_tool = done = False
        for t, token in enumerate(ids):
            if done:
                flags.append(False)
            elif in_tool:
                flags.append(False)
                in_tool = token != tool_end_id
            elif token == eos_id:
                flags.append(False)
                in_tool = t + 1 < len(ids) and ids[t + 1] == tool_start_id
                done = not in_tool
            else:
                flags.append(True)
        rows.append(flags)
    return torch.tensor(rows, dtype=torch.bool)
