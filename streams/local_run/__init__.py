"""Everything on one machine: what ``qrstream up`` starts, counts and stops."""
