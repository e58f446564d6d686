"""What ``qrstream render --report`` tells of one symbol: its make, how it was read back, what it can lose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from processors.render import Rendered
    from processors.spec import RenderSpec
    from processors.verify.damage import DamageMargin


def damage_of(spec: RenderSpec) -> DamageMargin:
    """The damage margin of a spec that has been rendered: its symbol is made once more."""
    from processors.symbol import make_symbol
    from processors.verify.damage import damage_margin

    return damage_margin(make_symbol(spec), spec.content)


def report_lines(rendered: Rendered, damage: DamageMargin) -> list[str]:
    """The report for people; what it says is what `--json` prints, with the warnings in words."""
    from processors.verify import explain

    facts = rendered.verification
    side = 17 + 4 * rendered.version
    lines = [
        f"symbol      version {rendered.version}-{rendered.error_correction.upper()}, mask {rendered.mask}, {side} by {side} modules, by {rendered.renderer}",
        f"read back   by {facts.decoder}, equal in every byte",
        f"contrast    {facts.contrast_ratio:.2f} to 1, {'light on dark (inverted)' if facts.inverted else 'dark on light'}",
        f"quiet zone  {facts.quiet_zone_modules:g} modules",
        f"module      {facts.module_px:g} px",
    ]
    lines += [f"warning     {name}: {explain(name, facts)}" for name in facts.warnings] or ["warnings    none"]
    square, scattered = damage.square, damage.scattered
    lines.append(f"can lose    a square of {damage.square_side} by {damage.square_side} modules in the middle ({square.modules} modules, {square.share:.1%})")
    lines.append(f"            or {scattered.modules} scattered modules ({scattered.share:.1%})")
    return lines


def report_members(damage: DamageMargin) -> dict[str, Any]:
    """What `--report` adds to `--json`."""
    from streams.cli.output import plain

    return {"damage": plain(damage)}
