"""A chat log, as ``contribute/dialogue_log`` describes it: from a chat to drafts."""
