"""Everything that touches Kafka, files and time: the workers, their commit protocol and the command line."""
