"""Dates as people say them: sentences whose tense, context or quotation marks decide what is meant.

Each line: the sentence, then every interval expected in it, in order. `start/end` in days (end excluded, `..` for an
open side); a start with a clock is compared alone (`2023-05-09T23:40`). A line with `@` says when the sentences under
it are said, UTC; one with `=` names the class of mistake that they show, one with `~` that they are its controls.
The table was written before the grammar was looked at; what is under "later cases" was written after it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

TABLE = """
@ 2023-05-10T12:00
= a past event is never in the future
My passport expired in September. | 2022-09-01/2022-10-01
She graduated in December with honours. | 2022-12-01/2023-01-01
We got married on 3 June. | 2022-06-03/2022-06-04
Dad had his hip done in August, and it hurt. | 2022-08-01/2022-09-01
The flood in November ruined the cellar. | 2022-11-01/2022-12-01
Finished my thesis on Friday! | 2023-05-05/2023-05-06
Back from Rome, landed on Saturday. | 2023-05-06/2023-05-07
Got the keys in July, finally. | 2022-07-01/2022-08-01
We went to see the lighthouse at the end of June. | 2022-06-21/2022-07-01
Just bought a bike on the 20th. | 2023-04-20/2023-04-21
I start at a clinic, I left the hospital on Monday. | 2023-05-08/2023-05-09
I love the flat that we saw on Tuesday. | 2023-05-09/2023-05-10
The roof leaked all through November. | 2022-11-01/2022-12-01
I've been vegan since October. | 2022-10-01/..
~ a future event is not in the past
My passport expires in September. | 2023-09-01/2023-10-01
We're getting married on 3 June. | 2023-06-03/2023-06-04
The lease ends on 30 June. | 2023-06-30/2023-07-01
I'll be in Rome on Saturday. | 2023-05-13/2023-05-14
Please finish the thesis on Friday. | 2023-05-12/2023-05-13
Due in November. | 2023-11-01/2023-12-01
Fine in November. | 2023-11-01/2023-12-01
The exam is on the 20th. | 2023-05-20/2023-05-21
I've left the hospital, I start at a clinic in York on Monday. | 2023-05-15/2023-05-16
She sold the car because she moves to the island on Friday. | 2023-05-12/2023-05-13
We signed it, and they deliver the sofa to the new flat on Tuesday. | 2023-05-16/2023-05-17
She said she would come in September. | 2023-09-01/2023-10-01
I hope we get the keys in July. | 2023-07-01/2023-08-01

@ 2023-05-10T08:15
= a clock time of the past said before it is the evening before
The alarm went off at 23:40. | 2023-05-09T23:40
I fell asleep at 11pm. | 2023-05-09T23:00
He rang at 22:30 and hung up. | 2023-05-09T22:30
Server crashed at 23:40, restarted it just now. | 2023-05-09T23:40
The neighbours were still singing at 1:30 am. | 2023-05-10T01:30
Got home at 11:55 pm. | 2023-05-09T23:55
~ a clock time to come is today
The baby woke me at 3:20. | 2023-05-10T03:20
The flight leaves at 23:40. | 2023-05-10T23:40
We have dinner at 7pm. | 2023-05-10T19:00
I'll call you at 22:30. | 2023-05-10T22:30
Breakfast was at 7:30 am. | 2023-05-10T07:30

@ 2023-05-10T12:00
= a participle without its subject is past
Signed on Monday! | 2023-05-08/2023-05-09
Contract signed on Monday, all good. | 2023-05-08/2023-05-09
Passed my driving test on Thursday!! | 2023-05-04/2023-05-05
Deal closed on Friday. | 2023-05-05/2023-05-06
Sold the van on Sunday | 2023-05-07/2023-05-08
Baby born on Saturday, both are well. | 2023-05-06/2023-05-07
~ a participle after a modal or an infinitive is not
Sign on Monday! | 2023-05-15/2023-05-16
Signing on Monday! | 2023-05-15/2023-05-16
To be signed on Monday. | 2023-05-15/2023-05-16
It gets signed on Monday. | 2023-05-15/2023-05-16
It must be signed on Monday. | 2023-05-15/2023-05-16
The van will be sold on Sunday. | 2023-05-14/2023-05-15

@ 2023-05-12T12:00
= a weekday said on that day is today
on Friday | 2023-05-12/2023-05-13
The review is on Friday. | 2023-05-12/2023-05-13
Are you free on Friday? | 2023-05-12/2023-05-13
Friday works for me. | 2023-05-12/2023-05-13
~ unless the tense or a word says otherwise
I handed it in on Friday. | 2023-05-05/2023-05-06
Last Friday was fun. | 2023-05-05/2023-05-06
See you next Friday. | 2023-05-19/2023-05-20
This Friday we celebrate. | 2023-05-12/2023-05-13
See you on Saturday. | 2023-05-13/2023-05-14

@ 2023-05-10T12:00
= how long it is since something tells when that was
It's been three years since grandpa died. | 2020-01-01/2021-01-01
Six months since I quit smoking. | 2022-11-01/2022-12-01
It has been two weeks since we moved. | 2023-04-23/2023-04-30
Ten days since the surgery and I can walk. | 2023-04-30/2023-05-01
Three years have passed since the fire. | 2020-01-01/2021-01-01
It is a year since she left. | 2022-01-01/2023-01-01
~ a duration or a since alone does not
I haven't seen him since March. | 2023-03-01/..
I've lived here for three years. |
Since the fire we have rented. |
It takes three years to grow. |
I have worked there three years. |

= a later time counts from the date told before it
I moved to Leeds in 2016 and bought the flat the year after. | 2016-01-01/2017-01-01 2017-01-01/2018-01-01
We met in March 2019, and two months later we were engaged. | 2019-03-01/2019-04-01 2019-05-01/2019-06-01
The audit was on 3 April. The next day we got the report. | 2023-04-03/2023-04-04 2023-04-04/2023-04-05
She landed on Friday and flew home two days later. | 2023-05-05/2023-05-06 2023-05-07/2023-05-08
The fire was on 2 February; the next morning we saw the damage. | 2023-02-02/2023-02-03 2023-02-03/2023-02-04
We launched on 6 March and the following week the servers melted. | 2023-03-06/2023-03-07 2023-03-13/2023-03-20
In 2010 I left school. The following year I joined the navy. | 2010-01-01/2011-01-01 2011-01-01/2012-01-01
I left in 2016, and the year before that we divorced. | 2016-01-01/2017-01-01 2015-01-01/2016-01-01
They wed in June 2001 and had twins a year later. | 2001-06-01/2001-07-01 2002-01-01/2003-01-01
~ without a date before it there is nothing to count from
Two days later he was dead. |
The next morning we drove home. |
The following week was hard. |
A week later she called. |
I moved to Leeds the year after I graduated. |
I'll do it later. |
See you next week. | 2023-05-15/2023-05-22
We met in 2019 and I will see her next year. | 2019-01-01/2020-01-01 2024-01-01/2025-01-01

= every year of a list is a year
We went to Japan in 2016, 2018 and 2023. | 2016-01-01/2017-01-01 2018-01-01/2019-01-01 2023-01-01/2024-01-01
I ran Berlin in 2012, 2014, and again in 2019. | 2012-01-01/2013-01-01 2014-01-01/2015-01-01 2019-01-01/2020-01-01
She won it in 2009 and 2011. | 2009-01-01/2010-01-01 2011-01-01/2012-01-01
He visited in March, May and July of 2021. | 2021-03-01/2021-04-01 2021-05-01/2021-06-01 2021-07-01/2021-08-01
In 1998, 2002 or 2006 they lost the final. | 1998-01-01/1999-01-01 2002-01-01/2003-01-01 2006-01-01/2007-01-01
~ a list of other numbers is none
Rooms 2016, 2018 and 2023 are being cleaned. |
Pages 1998, 2002 and 2006 are missing. |
Lessons were on March 3 and March 10. | 2023-03-03/2023-03-04 2023-03-10/2023-03-11

= two places with two months
We were in Lisbon in March and in Porto in April. | 2023-03-01/2023-04-01 2023-04-01/2023-05-01
I lived in Kyoto in October and in Seoul in November. | 2022-10-01/2022-11-01 2022-11-01/2022-12-01
She worked in Oslo in 2014 and in Bergen in 2017. | 2014-01-01/2015-01-01 2017-01-01/2018-01-01
From Rome in June we went to Naples in July. | 2022-06-01/2022-07-01 2022-07-01/2022-08-01
I was in Ghent in January and Bruges in February. | 2023-01-01/2023-02-01 2023-02-01/2023-03-01
~ a range stays one range
We lived in Lisbon from March to April. | 2023-03-01/2023-05-01
I was there between January and March. | 2023-01-01/2023-04-01

= file names are no dates
The numbers are in report_2023-04-01.csv. |
Open backup-2021-12-31.tar.gz please. |
Look at notes/2022/may.md. |
I saved it as IMG_20230401.jpg. |
See 2023-04-01-minutes.pdf for details. |
Check logs/2023-04-01.log please. |
= versions are no dates
We upgraded to Ubuntu 22.04. |
Release 2023.4 fixes the crash. |
Django 4.2 works, v2023.1 does not. |
Python 3.11.4 is out. |
Office 2016 keeps crashing. |
Photoshop version 2021 is slow. |
= model years are no dates
I drive a 2014 Honda Civic. |
He bought a 2019 MacBook Pro. |
Her 2008 Corolla broke down. |
It's a 1967 Mustang. |
= the spring of a river is no season
We drank from the spring behind the hut. |
The spring in the mattress broke. |
The river's spring is up in the hills. |
The path leads to a hot spring. |
Winter is my cat. |
~ dates and seasons beside such words are
The report from 2023-04-01 is late. | 2023-04-01/2023-04-02
The 2014 World Cup was fun. | 2014-01-01/2015-01-01
I bought the car in 2014. | 2014-01-01/2015-01-01
We met in the spring of 2019. | 2019-03-01/2019-06-01
I planted it in the spring. | 2023-03-01/2023-06-01
The 2019 budget was small. | 2019-01-01/2020-01-01
The notes of 1 April 2023 are in notes.md. | 2023-04-01/2023-04-02

= a day that does not exist is no date
The party was on 29 February 2023. |
Signed on 31 April 2022. |
It is due 2023-02-30. |
He wrote 02/30/2023 on it. |
We met on June 31. |
We met on February 29th, 2022. |
~ a day that exists is
The party was on 29 February 2020. | 2020-02-29/2020-03-01
Signed on 31 May 2022. | 2022-05-31/2022-06-01
It was due on the 30th of April. | 2023-04-30/2023-05-01

@ 2024-03-05T12:00
= in May of the past is the last May
I started here in May. | 2023-05-01/2023-06-01
In May I broke my leg. | 2023-05-01/2023-06-01
My wedding in May was tiny. | 2023-05-01/2023-06-01
The dog we adopted in May has grown. | 2023-05-01/2023-06-01
~ in May of the future is the next May
I start here in May. | 2024-05-01/2024-06-01
in may we fly to rome | 2024-05-01/2024-06-01
We may, in May, move house. | 2024-05-01/2024-06-01

@ 2023-05-10T12:00
~ may is not always a month
We may go on Sunday. | 2023-05-14/2023-05-15
You may want to check that. |
May I come in? |
May the best team win. |
May said she is late. |
I met May at the bakery. |
Theresa May resigned. |
It may or may not work. |

= the end of the year is its last month
At the end of the year we fly to Peru. | 2023-12-01/2024-01-01
At the end of last year I quit. | 2022-12-01/2023-01-01
At the end of 2021 we moved. | 2021-12-01/2022-01-01
I want to be fluent by the end of the year. | ../2024-01-01
The offer is valid until the end of the year. | ../2024-01-01
~ the end of a month is its last third
We closed the books at the end of October. | 2022-10-21/2022-11-01
Rent is due at the end of the month. | 2023-05-21/2023-06-01

= a timestamp has its year last
Thu Oct 26 11:00:09 EDT 2023 | 2023-10-26T15:00
Mon Jan 02 15:04:05 UTC 2006 | 2006-01-02T15:04
Tue Mar 7 09:15:00 2023 | 2023-03-07T09:15
Log: Sat Dec 31 23:59:59 CET 2022 shutdown | 2022-12-31T22:59
= four figures after a day are a clock where they cannot be a year of ours
We'll meet 27 July 1100 at the pier. | 2023-07-27T11:00
Briefing was 14 March 0930. | 2023-03-14T09:30
~ and a year where they can
It was 27 July 2019. | 2019-07-27/2019-07-28
She was born on 27 July 1945. | 1945-07-27/1945-07-28

= through includes its end
The exhibition runs through June. | ../2023-07-01
Classes run through June. | ../2023-07-01
She is away through Friday. | ../2023-05-13
Open through the end of August. | ../2023-09-01
~ through a place is none
We stayed from March through May. | 2023-03-01/2023-06-01
We walked through the park. |

= in one day is tomorrow
I'm back in one day. | 2023-05-11/2023-05-12
The parcel arrives in a day. | 2023-05-11/2023-05-12
We leave in one week. | 2023-05-17/2023-05-18
~ or how long it took
I read the book in one day. |
He wrote it in a week. |
Rome wasn't built in a day. |
We leave in three days. | 2023-05-13/2023-05-14

= by end of day Friday
Send it by end of day Friday. | ../2023-05-13
I need it by EOD Friday. | ../2023-05-13
Please reply by close of business Monday. | ../2023-05-16
Send it by the end of the day on Friday. | ../2023-05-13
~ by end of day alone
Send it by end of day. | 2023-05-10/2023-05-11
Send it by Friday. | ../2023-05-13

= quoted titles are no dates
I finished '11/22/63' by Stephen King. |
We watched "2012" on the plane. |
Her favourite novel is "1984". |
The book “1984” scared me. |
The band played "September" twice. |
I love "500 Days of Summer". |
Have you read ‘11/22/63’? |
~ dates that somebody quotes are
He told me "I was born in 1984". | 1984-01-01/1985-01-01
The email said "due 11/22/2022". | 2022-11-22/2022-11-23
It was the parents' evening on 3 May, and the boys' match. | 2023-05-03/2023-05-04

@ 2023-05-10T12:00
= later cases
I moved here in October. | 2022-10-01/2022-11-01
Our cat died on 14 November. | 2022-11-14/2022-11-15
The storm hit on Thursday. | 2023-05-04/2023-05-05
Shipped on Friday :) | 2023-05-05/2023-05-06
Got promoted on Tuesday! | 2023-05-09/2023-05-10
Tickets bought on Saturday. | 2023-05-06/2023-05-07
My flight was at 23:10, I barely slept. | 2023-05-09T23:10
The gig starts at 21:00. | 2023-05-10T21:00
We chatted from 9pm to 11pm. | 2023-05-09T21:00
Two years have gone by since the accident. | 2021-01-01/2022-01-01
It's been five days since I ran. | 2023-05-05/2023-05-06
It's been ages since we talked. |
It's been two months since March. | 2023-03-01/..
It has been a month since I last smoked. | 2023-04-01/2023-05-01
In the two weeks since the launch we fixed ten bugs. |
I broke my arm on 3 January. Three weeks later the cast came off. | 2023-01-03/2023-01-04 2023-01-21/2023-01-28
We met on Monday and the next day he called. | 2023-05-08/2023-05-09 2023-05-09/2023-05-10
We met on 4 April at 18:00. The following morning I flew home. | 2023-04-04/2023-04-05 2023-04-05/2023-04-06
In 2016 we moved. Two days later the car died. | 2016-01-01/2017-01-01
The exam is on 3 June and the results come two days later. | 2023-06-03/2023-06-04 2023-06-05/2023-06-06
I got the offer on 2 May. The Monday after, I quit. | 2023-05-02/2023-05-03 2023-05-08/2023-05-09
Let's meet next week. | 2023-05-15/2023-05-22
I was in Rome in 2019. I'll be back next year. | 2019-01-01/2020-01-01 2024-01-01/2025-01-01
She had twins the year after we met. |
I visited in 2001, 2005 and 2009. | 2001-01-01/2002-01-01 2005-01-01/2006-01-01 2009-01-01/2010-01-01
We played Leeds in June and Hull in July of 2022. | 2022-06-01/2022-07-01 2022-07-01/2022-08-01
The dates are 3 March and 5 April 2021. | 2021-03-03/2021-03-04 2021-04-05/2021-04-06
Attached: invoice-2022-11-03.pdf and scan_2022-12-01.png | 
See https://example.com/2021/05/03/post for more. |
The log of 2022-11-03 is missing. | 2022-11-03/2022-11-04
Pull the branch release-2023-04-01 please. |
He sold his 2015 Ford Focus in March. | 2023-03-01/2023-04-01
We have a 2020 iPad at home. |
Her 2018 Berlin Marathon was great. | 2018-01-01/2019-01-01
I watched the 2010 World Cup with dad. | 2010-01-01/2011-01-01
We filled our bottles at the spring. |
They married in the spring. | 2023-03-01/2023-06-01
The spring near the chapel is dry. |
I'll visit in the spring. | 2023-03-01/2023-06-01
The meeting is on 30 February. |
Feb 29, 2021 was odd. |
We left on 31 June 2020 or so. |
In June 31 people came. | 2022-06-01/2022-07-01
Born 29 Feb 2000. | 2000-02-29/2000-03-01
At the end of the year I'll be 40. | 2023-12-01/2024-01-01
At the start of the year I joined a gym. | 2023-01-01/2023-02-01
Late 2021 was rough. | 2021-09-01/2022-01-01
Wed Feb 14 08:30:00 PST 2018 | 2018-02-14T16:30
Departs 3 June 0645 from gate B. | 2023-06-03T06:45
The sale runs through 31 May. | ../2023-06-01
We are closed through the summer. | ../2023-09-01
We went through the woods in April. | 2023-04-01/2023-05-01
in one day | 2023-05-11/2023-05-12
You can't learn it in one day. |
There are 24 hours in one day. |
I'll be there in a week. | 2023-05-17/2023-05-18
Please submit by EOD Monday. | ../2023-05-16
I need the draft by end of day tomorrow. | ../2023-05-12
End of day Thursday is fine. | 2023-05-11/2023-05-12
At the end of the day, it's your call. |
Have you seen "Friday the 13th"? |
My favourite song is "Sunday Bloody Sunday". |
We read '1984' and 'Fahrenheit 451' in class. |
She said "see you on Friday" and left. | 2023-05-12/2023-05-13
The file is called "Budget 2021". |
The '90s were great, and the kids' club too. | 1990-01-01/2000-01-01
My friend May moved in March. | 2023-03-01/2023-04-01
I may be late on Friday. | 2023-05-12/2023-05-13
@ 2023-05-12T10:00
What are we doing on Friday? | 2023-05-12/2023-05-13
It's due Friday. | 2023-05-12/2023-05-13
I met him on Friday. | 2023-05-05/2023-05-06
See you on Friday! | 2023-05-19/2023-05-20
Friday | 2023-05-12/2023-05-13
@ 2025-01-19T19:00
= what is moved from one day to another is on the other
The dentist's visit was moved from the 23rd to the 30th, she is ill. | 2024-12-23/2024-12-24 2025-01-30/2025-01-31
The board meeting is moved from tomorrow to next Thursday. | 2025-01-20/2025-01-21 2025-01-23/2025-01-24
They pushed the launch from 3 to 10 February. | 2025-02-10/2025-02-11
The recital got postponed to the 28th because of the snow. | 2025-01-28/2025-01-29
~ what only looks like it
I work from Monday to Wednesday. | 2025-01-20/2025-01-23
We moved to the 3rd floor. |
Leila moved from second to third place. |
= a clause has a verb of its own
Last week I handed in my notice and on Thursday I begin at the port. | 2025-01-06/2025-01-13 2025-01-23/2025-01-24
= what is booked for a month is no person
We booked the cabin for June. | 2025-06-01/2025-07-01
~ what only looks like it
I baked a cake for June. |
= letters inside a code tell no language, and a measured value is no day
Results: sugar 5.8, HbA1c 5.9. Doc happy. |
= an anniversary is that day so long ago
It's four years today since the bridge was closed. | 2021-01-19/2021-01-20
~ what only looks like it
The exam is three weeks today. | 2025-01-19/2025-01-20
@ 2025-11-24T08:00
= a day of a few weeks ahead lies there beside a verb in the past
they changed my eye test its 9 december now | 2025-12-09/2025-12-10
Got the job at the harbour, starting 8 December. | 2025-12-08/..
We lowered the fee to 30 as of 1 December. | 2025-12-01/..
~ a day of a few weeks ago does not
she broke her wrist on 2 November | 2025-11-02/2025-11-03
= a day without its month lies in the month that was named before it
The fair is in March. We build on the 12th. | 2026-03-01/2026-04-01 2026-03-12/2026-03-13
In August we walked the coast, from the 3rd to the 9th. | 2025-08-01/2025-09-01 2025-08-03/2025-08-10
We rent the hut in February from the 24th to the 2nd. | 2026-02-01/2026-03-01 2026-02-24/2026-03-03
~ unless it lies on the other side of now
We ordered it in September, it comes on the 4th. | 2025-09-01/2025-10-01 2025-12-04/2025-12-05
We saw them in May. She rings on the 2nd. | 2025-05-01/2025-06-01 2025-12-02/2025-12-03
= a week by its number is the one that the verb looks at
The paint was delivered in week 50. | 2024-12-09/2024-12-16
We ski in week 7. | 2026-02-09/2026-02-16
The audit was pushed to week 3. | 2026-01-12/2026-01-19
~ which is this year's where no verb tells
Budget review: in week 49 | 2025-12-01/2025-12-08
= a year in two digits
They founded the choir in May 71. | 1971-05-01/1971-06-01
We have run the mill since 94, my brother and I. | 1994-01-01/..
The bridge was new back in 68. | 1968-01-01/1969-01-01
~ is none where something is counted, or a time was run
In June 86 people signed up. | 2025-06-01/2025-07-01
Since 50 people came we needed a bigger hall. |
She ran it in 52. |
"""


class Case(NamedTuple):
    """A sentence, when it is said and what it means."""

    kind: str
    mistake: bool
    at: datetime
    text: str
    wanted: tuple[str, ...]


@cache
def cases() -> list[Case]:
    """Every line of the table."""
    found, at, kind, mistake = [], datetime(2023, 5, 10, 12, tzinfo=UTC), "", True
    for line in TABLE.strip().splitlines():
        match line[:2]:
            case "@ ":
                at = datetime.fromisoformat(line[2:]).replace(tzinfo=UTC)
            case "= " | "~ ":
                kind, mistake = line[2:], line[0] == "="
            case _ if "|" in line:
                text, _, wanted = line.rpartition("|")
                found.append(Case(kind, mistake, at, text.strip(), tuple(wanted.split())))
    return found
