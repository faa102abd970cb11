"""Importing this puts our functions into verl: VERL_USE_EXTERNAL_MODULES names it."""

from ppo_ref.inside_verl import install

install()
