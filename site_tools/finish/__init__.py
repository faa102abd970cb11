"""What Markdown cannot say, put into the built pages."""
