"""What may be wrong with a page: rules, a module a concern, and one judgement."""
