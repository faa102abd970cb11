"""The loop around the river: prompts, networks, rollout, update, trainer."""
