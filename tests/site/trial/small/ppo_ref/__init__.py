"""A map.

1   shapes
"""
