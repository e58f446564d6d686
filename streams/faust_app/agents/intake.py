"""The intake agent: submissions under an idempotency key in, requests out."""

from __future__ import annotations

from typing import Any

from streams.faust_app.agents import flow
from streams.faust_app.app import INTAKE_AGENT, app, intake_decider, submitted


@app.agent(submitted, isolated_partitions=True, name=INTAKE_AGENT)
async def intake(stream: Any) -> None:
    """Forward or refuse each submission of a partition once."""
    await flow.run(stream, intake_decider)
