"""The commands of a contributor, who asks, words, checks and writes pages."""
