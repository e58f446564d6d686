"""The delay forwarder: parked requests go back to the requested topic when they are due, exactly once."""
