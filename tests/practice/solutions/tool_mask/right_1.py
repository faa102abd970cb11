import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    rows = []
    for ids in token_ids.tolist():
        row = [False] * len(ids)
        state = "model"
        for t, token in enumerate(ids):
            if state == "model":
                row[t] = True
                if token == eos_id:
                    state = "after eos"
            elif state == "after eos":
                if token != tool_start_id:
                    break
                state = "tool"
            elif token == tool_end_id:
                state = "model"
        rows.append(row)
    return torch.tensor(rows, dtype=torch.bool, device=token_ids.device)
