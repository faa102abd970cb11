import re

import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    names, rows = {eos_id: "e", tool_start_id: "s", tool_end_id: "f"}, []
    for ids in token_ids.tolist():
        text = "".join(names.get(i, "m") for i in ids)
        text = re.match(r"([^e]*es[^f]*f)*[^e]*e?(s[^f]*$)?", text).group()
        text = re.sub(r"es[^f]*f?", lambda m: m[0][0] + "-" * len(m[0][1:]), text)
        rows.append([c != "-" for c in text.ljust(len(ids), "-")])
    return torch.tensor(rows, device=token_ids.device)
