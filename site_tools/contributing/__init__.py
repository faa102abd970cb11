"""What a contributor brings, read and written: questions, wordings, new pages."""
