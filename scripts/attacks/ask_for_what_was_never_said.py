"""Ask a memory for the dates of what nobody ever told it.

The story of `everwhen demo` is put into a bank; then `when` is asked for events that are not in it: things never
spoken of, what somebody else did, a detail that was never told, and what was only wished for or called off. None has a
date. So that a memory which refuses everything does not pass, a few events that were told are asked for as well.

    python scripts/attacks/ask_for_what_was_never_said.py
"""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from target import outcome

from everwhen import Memory
from everwhen.cli.story.story import ASKED_AT, STORY_ZONE, story

NEVER_SAID = (
    "When did Marta climb Everest?",
    "When did Marta adopt a parrot?",
    "When did Marta run a marathon in Berlin?",
    "When did Noor get divorced?",
    "When did Rui buy a motorbike?",
    "When did Marta learn to drive?",
    "When did Teresa retire?",
    "When did Davide break his leg?",
    "When did Dr. Sampaio move to Brazil?",
    "When was Marta's car stolen?",
    # somebody else did it, or it was something else
    "When did Rui hand in his notice?",
    "When did Noor lose her sketchbook?",
    "When did Noor adopt a greyhound?",
    "When did Davide stop drinking coffee?",
    "When did Marta have her baby?",
    "When did Rui take Japanese lessons?",
    # spoken of, and never told when, or never done
    "When did Marta sell her flat in Lisbon?",
    "When did Marta run the ten-kilometre race?",
    "When did Marta buy the yellow umbrella?",
    "When did Teresa found the studio?",
)
TOLD = (
    ("When did Marta move to Porto?", "2025-05-31"),
    ("When did Marta relocate to her new flat in Porto?", "2025-05-31"),
    ("When was Salma born?", "2025-03-07"),
    ("When did Marta mislay her sketchbook?", "2025-05-16"),
    ("When did Marta accept Teresa's offer?", "2025-04-14"),
)
MOST_DATES = 2
LEAST_TOLD = 3


def main() -> int:
    with TemporaryDirectory() as home, Memory.open(Path(home), "story", zone=STORY_ZONE) as memory:
        memory.add_many(story())
        memory.flush()
        dated = [asked for asked in NEVER_SAID if memory.when(asked, at=ASKED_AT) is not None]
        right = 0
        for asked, day in TOLD:
            found = memory.when(asked, at=ASKED_AT)
            start = found.interval.start if found else None
            right += found is not None and start is not None and _day(start, found.zone) == day
    figures = (
        f"{len(dated)} of {len(NEVER_SAID)} never said got a date, {right} of {len(TOLD)} told got theirs"
    )
    return outcome(len(dated) <= MOST_DATES and right >= LEAST_TOLD, "; ".join([figures, *dated]))


def _day(instant: datetime, zone: str) -> str:
    return instant.astimezone(ZoneInfo(zone)).date().isoformat()


if __name__ == "__main__":
    sys.exit(main())
