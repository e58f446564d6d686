"""Measurements of the stream on a real broker with a real worker; figures, never tests."""
