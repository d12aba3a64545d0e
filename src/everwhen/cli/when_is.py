"""`when-is`: what a time expression means, and by which rules."""

from __future__ import annotations

from typing import Annotated

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.errors import NotFound


@app.command("when-is")
def when_is(
    here: GlobalOptions,
    expression: Annotated[str, typer.Argument(help='Such as "the weekend after next", or a whole sentence.')],
    at: Annotated[str | None, typer.Option(help="When it is said: ISO 8601 or an expression [now].")] = None,
    tense: Annotated[str | None, typer.Option(help="past or future, where the words leave it open.")] = None,
    day_first: Annotated[bool, typer.Option("--day-first", help="3/4 is the third of April.")] = False,
) -> None:
    """The interval that a time expression means.

    Exit code 3 when there is no time in it.
    """
    from rich.text import Text

    from everwhen.cli.safe_printing import printable
    from everwhen.errors import UsageError
    from everwhen.time_arguments import TimeReader, known_zone
    from everwhen.when import explain, resolve

    zone = known_zone(here.zone or "UTC")
    if tense not in (None, "past", "future"):
        raise UsageError(f"unknown tense '{tense}'; use past or future")
    found = resolve(expression, TimeReader(zone, at).now, zone, tense, day_first=day_first)  # type: ignore[arg-type]
    if here.json:
        here.print(found)
    elif not found:
        raise NotFound(f"there is no time expression in '{expression}'; write one such as 'last Friday'")
    for one in () if here.json else found:
        here.console.print(Text.assemble((printable(one.text), "bold"), f"  {explain(one.interval, zone)}"))
        rule = str(one.recurrence) if one.recurrence else str(one.duration) if one.duration else ""
        details = [f"{one.kind}, grain {one.grain}, confidence {one.confidence:.2f}", rule]
        details.append("rules: " + " → ".join(one.rule))
        here.console.print("\n".join(f"  {line}" for line in details if line), style="dim")
