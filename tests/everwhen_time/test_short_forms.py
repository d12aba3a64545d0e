"""Short forms, as people write them into a calendar or a command: whole texts, with what the caller knows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from everwhen_time import Interval, resolve

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)  # a Wednesday

# Said by somebody who looks ahead and writes the day first.
AHEAD = """
18th | 2023-05-18/2023-05-19
3rd | 2023-06-03/2023-06-04
18th at 5pm | 2023-05-18T17:00/2023-05-18T17:01
18th in the morning | 2023-05-18T06:00/2023-05-18T12:00
the 12th early morning | 2023-05-12T06:00/2023-05-12T08:00
Monday the 5 | 2023-06-05/2023-06-06
24th-26th | 2023-05-24/2023-05-27
2nd to 4th | 2023-06-02/2023-06-05
11.2. | 2024-02-11/2024-02-12
11.2. at 5pm | 2024-02-11T17:00/2024-02-11T17:01
24.6.-26.6. | 2023-06-24/2023-06-27
24.06. - 26.06.2024 | 2024-06-24/2024-06-27
27.07.24 | 2024-07-27/2024-07-28
due 27.07.24 | 2024-07-27/2024-07-28
24. June | 2023-06-24/2023-06-25
Tuesday 12.12 | 2023-12-12/2023-12-13
Friday 7.30 | 2023-05-12T07:30/2023-05-12T07:31
13 Nov Mon | 2023-11-13/2023-11-14
4 June 2115 | 2023-06-04T21:15/2023-06-04T21:16
4 June 1845 | 2023-06-04T18:45/2023-06-04T18:46
4 June 2024 | 2024-06-04/2024-06-05
4 June 1830-2000 | 2023-06-04T18:30/2023-06-04T20:00
4JUN 0640 - 0810 | 2023-06-04T06:40/2023-06-04T08:10
Sun 4 June 1500-1735 | 2023-06-04T15:00/2023-06-04T17:35
4/6 1500 | 2023-06-04T15:00/2023-06-04T15:01
tomorrow 1500 h | 2023-05-11T15:00/2023-05-11T15:01
tomorrow 1500h | 2023-05-11T15:00/2023-05-11T15:01
tomorrow at 0705am | 2023-05-11T07:05/2023-05-11T07:06
tomorrow 15h | 2023-05-11T15:00/2023-05-11T15:01
tomorrow 15.30 | 2023-05-11T15:30/2023-05-11T15:31
tomorrow at 7.30/8am | 2023-05-11T07:30/2023-05-11T07:31
next Thrusday around 18 or 19 | 2023-05-18T18:00/2023-05-18T18:01
9.8.2023 between 2 and 3 pm | 2023-08-09T14:00/2023-08-09T15:00
Friday between 15 and 17 | 2023-05-12T15:00/2023-05-12T17:00
next Tuesday to Thursday | 2023-05-16/2023-05-19
Tuesday to Thursday | 2023-05-16/2023-05-19
Friday in two weeks | 2023-05-26/2023-05-27
not before Friday | 2023-05-12/..
Friday at the latest | ../2023-05-13
Friday for three nights | 2023-05-12/2023-05-15
for a week from 1 June | 2023-06-01/2023-06-08
day after tomorrow morning | 2023-05-12T06:00/2023-05-12T12:00
beginning of June | 2023-06-01/2023-06-11
"""
# Nothing is known of the speaker.
PLAIN = """
4 June 1845 | 1845-06-04/1845-06-05
fri | 2023-05-05/2023-05-06
5 or 6pm | 2023-05-10T17:00/2023-05-10T17:01
3-5pm | 2023-05-10T15:00/2023-05-10T17:00
1pm-3 | 2023-05-10T13:00/2023-05-10T15:00
at 7 | 2023-05-10T07:00/2023-05-10T07:01
Friday 3-5pm | 2023-05-05T15:00/2023-05-05T17:00
12 April, 9am - 5pm | 2023-04-12T09:00/2023-04-12T17:00
2023-04-18 13:00 - 16:00 | 2023-04-18T13:00/2023-04-18T16:00
tomorrow before 4pm | 2023-05-11/2023-05-11T16:00
tomorrow after 4pm | 2023-05-11T16:00/2023-05-12
half past seven pm | 2023-05-10T19:30/2023-05-10T19:31
3 o'clock in the afternoon | 2023-05-10T15:00/2023-05-10T15:01
5pm GMT+2 | 2023-05-10T15:00/2023-05-10T15:01
Wed, 3 May 2023 11:00:09 -0400 | 2023-05-03T15:00:09/2023-05-03T15:00:10
2h ago | 2023-05-10T09:30/2023-05-10T10:30
12 hours ago | 2023-05-10/2023-05-10T00:30
in 30min | 2023-05-10T12:30/2023-05-10T12:31
1h30 ago | 2023-05-10T10:30/2023-05-10T10:31
in 1h 30m | 2023-05-10T13:30/2023-05-10T13:31
3d ago | 2023-05-07/2023-05-08
2 1/2 hours ago | 2023-05-10T09:30/2023-05-10T09:31
three quarters of an hour ago | 2023-05-10T11:15/2023-05-10T11:16
in about ~3 days | 2023-05-13/2023-05-14
+2 days | 2023-05-12/2023-05-13
two evenings ago | 2023-05-08T18:00/2023-05-09
2024/13/2 | 2024-02-13/2024-02-14
2023-W18 | 2023-05-01/2023-05-08
3-May-21 | 2021-05-03/2021-05-04
1st of the month | 2023-05-01/2023-05-02
tommorow | 2023-05-11/2023-05-12
Labor Day weekend | 2022-09-03/2022-09-06
Easter weekend 2022 | 2022-04-16/2022-04-18
by end of business on Friday | ../2023-05-13
Monday to Friday, 9am-5pm | 2023-05-08/2023-05-13
"""
NOTHING = """
I came 3rd in the race.
She finished 5th at the games.
He is 24. March was his name.
It costs 11.2. That is fine.
Version 10.12.24 is out.
The score was 10-12-15.
She is 5m away.
The 3d model is ready.
The 24th-26th rows are empty.
From 1st to 3rd place it was close.
At 7 she learned to read.
We met at 5 Main Street.
Use cotton paper for 19th-century prints.
The cafe is around 1st and Pine.
The ratio is 3.5 to 4.5.
They want 9H glass.
"""


def lines(table: str) -> list[tuple[str, str]]:
    return [
        (text, wanted) for text, _, wanted in (line.partition(" | ") for line in table.strip().splitlines())
    ]


def written(interval: Interval) -> str:
    def side(moment: datetime | None) -> str:
        if moment is None:
            return ".."
        day = moment.replace(tzinfo=None)
        if not (day.hour or day.minute or day.second):
            return f"{day:%Y-%m-%d}"
        return f"{day:%Y-%m-%dT%H:%M:%S}" if day.second else f"{day:%Y-%m-%dT%H:%M}"

    return f"{side(interval.start)}/{side(interval.end)}"


@pytest.mark.parametrize(("text", "wanted"), lines(AHEAD))
def test_a_plan_is_read_as_its_writer_means_it(text: str, wanted: str) -> None:
    found = resolve(text, NOW, tense="future", day_first=True)
    assert [written(ref.interval) for ref in found if ref.interval] == [wanted]


@pytest.mark.parametrize(("text", "wanted"), lines(PLAIN))
def test_a_short_form_is_read(text: str, wanted: str) -> None:
    assert [written(ref.interval) for ref in resolve(text, NOW) if ref.interval] == [wanted]


@pytest.mark.parametrize("text", NOTHING.strip().splitlines())
@pytest.mark.parametrize("day_first", [False, True])
def test_what_only_looks_like_a_short_form_is_none(text: str, day_first: bool) -> None:
    assert [ref.text for ref in resolve(text, NOW, day_first=day_first) if ref.interval] == []


def test_a_number_and_its_unit_need_no_space() -> None:
    found = {text: resolve(text, NOW)[0].duration for text in ("2h", "1h30", "45min", "3days", "2wks")}
    assert [str(duration) for duration in found.values()] == ["PT2H", "PT1H30M", "PT45M", "P3D", "P2W"]
