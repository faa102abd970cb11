import torch


def _find(tokens, wanted, start):
    """Position of the first wanted token from start on; the length if none."""
    try:
        return tokens.index(wanted, start)
    except ValueError:
        return len(tokens)


def _turns(tokens, eos, opening, closing):
    """Yield the (start, stop) of each turn of the model."""
    start = 0
    while start < len(tokens):
        stop = _find(tokens, eos, start) + 1
        yield start, stop
        if stop >= len(tokens) or tokens[stop] != opening:
            return
        start = _find(tokens, closing, stop) + 1


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    mask = torch.zeros_like(token_ids, dtype=torch.bool)
    for i, tokens in enumerate(token_ids.tolist()):
        for start, stop in _turns(tokens, eos_id, tool_start_id, tool_end_id):
            mask[i, start:stop] = True
    return mask
