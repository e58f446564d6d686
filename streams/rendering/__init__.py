"""Rendering outside the worker's interpreter, so that a record which kills the render does not kill the worker.

renderer        what the worker calls: specs in, artifacts or errors out, in order
child_process   one child of the worker: started, spoken to, killed
child           the program that the child runs
frames          what the two say to each other
faults          fault injection, carried out in the child
journal         which offsets were being handled when the worker died, and how often
journal_file    its two slots on disk
"""
