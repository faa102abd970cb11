"""The twelve holes, a module each: batches, the definition, known misconceptions."""
