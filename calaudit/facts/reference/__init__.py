"""The reference corpus and its two runs."""
