"""What commands and checks say, in Chinese: a list of sentences, and who reads it."""
