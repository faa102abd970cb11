"""All holes, by name."""

import importlib

from ppo_ref.practice import words

HOLES = {
    name: importlib.import_module(f"ppo_ref.practice.holes.{name}").HOLE
    for name in words.HOLES
}
