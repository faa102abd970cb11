"""For a run that is broken: asserts, its dumped tensors, the doctor of its log."""
