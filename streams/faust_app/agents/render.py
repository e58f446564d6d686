"""The render agent: requests in, outcomes out."""

from __future__ import annotations

from typing import Any

from streams.faust_app.agents import flow
from streams.faust_app.app import RENDER_AGENT, app, decider, requested


@app.agent(requested, isolated_partitions=True, name=RENDER_AGENT)
async def render(stream: Any) -> None:
    """Answer each request of a partition once."""
    await flow.run(stream, decider)
