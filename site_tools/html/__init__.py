"""A page as readers see it: answer box, formulas, pictures, navigation."""
