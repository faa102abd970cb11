"""Holes to fill in: twelve functions of PPO to write oneself, and their judges.

``holes`` has a module for each: its batches, its definition (from ``loops``), and the
misconceptions that are known, each as the code that commits it. ``words`` reads what a
learner is told (``holes.json``), ``child`` runs a solution in a process of its own, and
``judging`` says what is wrong with what came back.
"""
