"""`GET /facts` is four operations, and `/facts/stale` gives a hundred where nobody says how many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from everwhen.errors import UsageError
from everwhen.operations import Operation
from everwhen.operations.facts import About, AsOf, Current, History, Stale
from everwhen.serve.routes.operations import Special


def _meant(given: Mapping[str, Any]) -> Operation[Any]:
    """What `GET /facts` asks for: what holds now, what held at an instant, or how a subject changed."""
    subject, predicate = given["subject"], given["predicate"]
    if given["history"] or given["versions"]:
        if subject is None:
            raise UsageError("history: name the subject whose history you want (`subject`)")
        if predicate is None:
            return About(subject, versions=given["versions"])
        return History(subject, predicate, versions=given["versions"])
    if given["as_of"] is not None:
        return AsOf(given["as_of"], subject, predicate, known_at=given["known_at"])
    if given["known_at"] is not None:
        raise UsageError("known_at: say also for which instant (`as_of`)")
    return Current(subject, predicate, now=given["now"])


SPECIAL = {Current: Special(pick=_meant), Stale: Special(defaults={"limit": 100})}
