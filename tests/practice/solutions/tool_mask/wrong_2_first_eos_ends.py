# Knows only one turn: everything after the first EOS is taken for padding.
import torch


def tool_mask(token_ids, eos_id, tool_start_id, tool_end_id):
    is_eos = token_ids == eos_id
    eos_before = torch.cumsum(is_eos, dim=1) - is_eos.long()
    return eos_before == 0
