"""What every function asks of its arguments: shapes, types, ranges, precision."""
