"""The agents: each reads as the flow itself."""
