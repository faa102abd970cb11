"""What each module's own tests notice: the record of make mutation."""
