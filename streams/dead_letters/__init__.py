"""Dead letters: what could not be handled, kept whole for an operator."""
