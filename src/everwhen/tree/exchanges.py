"""Level 1 of the tree: the turns of a session in order, cut into exchanges.

The result depends only on the turns, not on the order in which they arrived. (The segment that a turn gets when it
arrives knows only the turns that were there.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from everwhen.tree.base import Child
from everwhen.tree.levels import Levels
from everwhen.types import Statement, Turn
from everwhen.types.recall import line
from everwhen.write.remember import begins_exchange
from everwhen_time import Interval


def in_order(turns: Iterable[Turn]) -> list[Turn]:
    """By time; at one instant by the id, shorter ones first, as numbered ids count (D1:9, D1:10)."""
    return sorted(turns, key=lambda turn: (turn.said_at, len(turn.id), turn.id))


def exchanges(turns: Sequence[Turn], many: int = 1) -> list[list[Turn]]:
    """The turns of a session, in their order, as exchanges, or as pieces of several exchanges."""
    cut: list[list[Turn]] = []
    heard: list[str] = []  # who spoke in the exchange: its first speaker, another one, its last
    for turn in turns:
        if begins_exchange(heard, turn.speaker):
            cut.append([turn])
            heard = [turn.speaker]
        else:
            cut[-1].append(turn)
            heard = [heard[0], *(one for one in heard[1:2] if one != heard[0]), turn.speaker]
    return [
        [turn for exchange in cut[at : at + many] for turn in exchange] for at in range(0, len(cut), many)
    ]


def children_of_session(turns: Sequence[Turn], levels: Levels) -> list[Child]:
    return [child_of_turns(some, levels) for some in exchanges(turns, levels.exchanges)]


def child_of_turns(some: Sequence[Turn], levels: Levels) -> Child:
    """One exchange, or a piece of several."""
    place = levels.exchange(some[0].session, some[0].id, some[0].said_at, some[-1].said_at)
    return Child(
        place=place,
        interval=Interval(place.start, place.end, "second"),
        text="".join(line(turn.speaker, turn.text) for turn in some).rstrip("\n"),
        statements=tuple(
            Statement(turn.text, turn.speaker, turn.said_at, turn.said_at, 1, (turn.id,)) for turn in some
        ),
        fingerprint="\x1f".join(turn.id for turn in some),
        speakers=tuple(dict.fromkeys(turn.speaker for turn in some)),
    )
