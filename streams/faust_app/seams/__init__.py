"""Where Faust 0.15 is bent for exactly-once ownership; tests/unit/test_faust_seams.py names each place.

`App._new_transport` → Transport → Consumer → ConsumerThread (transport.py), the `TableManager` setting
→ Recovery (recovery.py), the `Table` class (table.py).
"""
