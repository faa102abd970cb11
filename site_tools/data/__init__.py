"""The project's own data: facts about verl, the names of the field, source code."""
