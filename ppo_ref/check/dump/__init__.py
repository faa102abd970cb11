"""One dumped batch of a trainer, computed again and judged stage by stage.

``reading`` opens a file that holds tensors and no code, ``contents`` takes its lists
and dicts apart, ``trainers`` puts the names of TRL's GRPO and of OpenRLHF into those of
verl 0.3 to 0.9.1; ``inputs`` judges what went into the advantages, ``estimates`` the
advantages of a critic, ``groups`` those without one, ``wrong_groups`` names what went
wrong with them; ``judging`` puts the verdicts together. A stage is ``ok`` only where
its faults would show in the batch at hand, ``-`` where nothing was compared, and
``look`` where numbers differ, but the dump does not say whose fault that is.
"""
