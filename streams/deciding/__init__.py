"""Steps 1 and 2 of a micro-batch: which events are next, and what each of them does to the batch."""
