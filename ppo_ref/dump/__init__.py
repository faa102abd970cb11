"""One dumped batch of a trainer, computed again and judged stage by stage.

``reading`` takes a file that holds tensors and no code; ``fields`` knows the names that
verl 0.3 to 0.9.1 give them; ``inputs`` judges what went into the advantages,
``estimates`` the advantages; ``judging`` puts it together.
"""
