"""The arithmetic beneath the stages, undecorated, for torch.compile and a GPU."""
