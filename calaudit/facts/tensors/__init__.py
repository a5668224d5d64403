"""Tensors kept as files: their index, their bytes, and golden beside run."""
