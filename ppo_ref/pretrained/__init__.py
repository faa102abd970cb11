"""A causal language model of Hugging Face, from a folder, as actor and reference."""
