"""The intake: submissions under an idempotency key in, each forwarded once as a request; no Faust."""
