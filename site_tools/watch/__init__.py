"""What new releases change of what the pages say: python -m site_tools.watch."""
