"""One dumped batch of a trainer, computed again and judged stage by stage.

``reading`` opens a file that holds tensors and no code, under the names of verl 0.3 to
0.9.1; ``inputs`` judges what went into the advantages, ``estimates`` the advantages of
a critic, ``groups`` those without one; ``judging`` puts the verdicts together. A stage
is ``ok`` only where its faults would show in the batch at hand, else ``-``.
"""
