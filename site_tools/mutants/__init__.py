"""What is broken on purpose, in code and on pages, and who noticed."""
