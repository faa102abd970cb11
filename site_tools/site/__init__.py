"""What readers get, made from the pages and the data."""
