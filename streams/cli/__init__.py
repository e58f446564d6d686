"""The command line of qrstream: one command a file, one line for each mistake, exit codes from one table."""
