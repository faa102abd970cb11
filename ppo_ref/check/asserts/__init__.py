"""Asserts for your own trainer: what it computes is judged, not how.

``slices`` asks your critic and your actor which tokens they have read; ``masks`` and
``targets`` look at a batch; ``step_zero`` compares two models before any update;
``updates`` watches the update itself; ``packing`` computes rows together and alone. A
fault is an ``AssertionError`` that says what was found, in which row and at which
token, what usually causes it, and the remedy. What was passed wrongly is a
``TypeError`` or a ``ValueError``. No model is changed: neither its mode nor its
gradients, nor the state of the random number generators.
"""
