"""The commit protocol: fencing, restore, checkpoint and the one transaction of a micro-batch. No Faust here.

fence (transaction.py) → restore (restore.py, checkpoint.py) → open (owners.py) → batches (batch.py,
ownership.py) → close. docs/ownership.md compares it with a distributed lock.
"""
