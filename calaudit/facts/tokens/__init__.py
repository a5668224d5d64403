"""The tokenizer, and what it makes of texts."""
