"""What is more.

In which:
"""
