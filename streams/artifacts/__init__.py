"""Where artifacts are kept outside Kafka: a folder or an S3 bucket, content-addressed, never overwritten."""
