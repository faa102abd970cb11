"""A page as it is shown: its tree, its figures and pictures, its words."""
