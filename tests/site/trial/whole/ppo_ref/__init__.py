"""A sum.

3   __main__
2   sums  more
1   shapes
"""
