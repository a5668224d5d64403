"""Harness: drives ONNX Runtime (later runners and services) and writes the evidence documents that the auditor judges.

Nothing here judges a port, and the auditor never imports it: what it writes is read back, recomputed and doubted.
"""
