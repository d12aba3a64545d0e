"""What people say, and the days they mean: said on Wednesday 10 May 2023 at noon, UTC.

Each line: the sentence, then every interval expected in it, in order, as `start/end` in days (end excluded,
`..` for an open side). Written before the grammar was tuned; a new class of mistake gets a line here.
"""

SAID = """
It was the Friday, around lunch, so 5 May. | 2023-05-05/2023-05-06 2023-05-05/2023-05-06
Friday's rehearsal went on for ever. | 2023-05-05/2023-05-06
Sleep on it, and tell me on Monday. | 2023-05-15/2023-05-16
She sat down and told us on Monday. | 2023-05-08/2023-05-09
I have two exams on the second. | 2023-06-02/2023-06-03
I finished the report yesterday, so tonight we celebrate. | 2023-05-09/2023-05-10 2023-05-10/2023-05-11
Mum rang me last night about the will. | 2023-05-09/2023-05-10
We're driving down to Cornwall tomorrow morning. | 2023-05-11/2023-05-12
Did you see the eclipse the day before yesterday? | 2023-05-08/2023-05-09
The plumber is coming the day after tomorrow. | 2023-05-12/2023-05-13
I had my first physio session three days ago. | 2023-05-07/2023-05-08
Five days ago the CI pipeline started failing on main. | 2023-05-05/2023-05-06
A few days ago my laptop died. | 2023-05-05/2023-05-09
I ran into your brother the other day. | 2023-05-03/2023-05-10
I've been sleeping badly lately. | 2023-04-26/2023-05-11
Recently I've switched to tea. | 2023-04-26/2023-05-11
A couple of days ago we repainted the kitchen. | 2023-05-08/2023-05-09
Two weeks ago I adopted a greyhound. | 2023-04-23/2023-04-30
I joined the choir a month ago. | 2023-04-01/2023-05-01
He proposed to me ten years ago in Lisbon. | 2013-01-01/2014-01-01
Four months ago we refactored the billing service. | 2023-01-01/2023-02-01
A year ago we didn't even know each other. | 2022-01-01/2023-01-01
A week ago today I was still in hospital. | 2023-05-03/2023-05-04
They broke up a few months ago. | 2022-12-01/2023-04-01
A few years ago she ran a bakery. | 2018-01-01/2022-01-01
Our daughter was born a year and a half ago. | 2021-11-01/2021-12-01
We released the beta last Thursday. | 2023-05-04/2023-05-05
On Tuesday I met the new landlord. | 2023-05-09/2023-05-10
I'll send the slides on Friday. | 2023-05-12/2023-05-13
Next Monday is my first day at the new job. | 2023-05-15/2023-05-16
This Friday we are going bowling. | 2023-05-12/2023-05-13
This past Sunday we baked sourdough. | 2023-05-07/2023-05-08
This coming Saturday there's a street party. | 2023-05-13/2023-05-14
Two Fridays ago I got stuck in a lift. | 2023-04-28/2023-04-29
Thursday of last week was the worst day of the sprint. | 2023-05-04/2023-05-05
Can we move it to Tuesday next week? | 2023-05-16/2023-05-17
Last weekend we went kayaking with the cousins. | 2023-05-06/2023-05-08
The weekend before last I was in Porto. | 2023-04-29/2023-05-01
Are you free the weekend after next? | 2023-05-27/2023-05-29
Next weekend we're hosting my in-laws. | 2023-05-20/2023-05-22
I spent the weekend fixing the fence. | 2023-05-06/2023-05-08
Over the weekend I read two novels. | 2023-05-06/2023-05-08
This week has been a blur. | 2023-05-08/2023-05-15
The week before last I had the flu. | 2023-04-24/2023-05-01
The migration is planned for the week after next. | 2023-05-22/2023-05-29
Earlier this week the heating broke. | 2023-05-08/2023-05-10
Last month I walked 300 kilometres. | 2023-04-01/2023-05-01
This month we're trying to save money. | 2023-05-01/2023-06-01
Next year I'm turning forty. | 2024-01-01/2025-01-01
We moved in together the year before last. | 2021-01-01/2022-01-01
My sabbatical starts next quarter. | 2023-07-01/2023-10-01
Sales were flat last quarter. | 2023-01-01/2023-04-01
In March we visited my aunt in Turin. | 2023-03-01/2023-04-01
I defended my thesis in November. | 2022-11-01/2022-12-01
We're getting married in September. | 2023-09-01/2023-10-01
The conference takes place in June. | 2023-06-01/2023-07-01
My passport expires in August. | 2023-08-01/2023-09-01
Last December it snowed for days. | 2022-12-01/2023-01-01
Since January I've been learning the cello. | 2023-01-01/..
I haven't smoked since last summer. | 2022-06-01/..
She has worked at the clinic since 2011. | 2011-01-01/..
Ever since Christmas the dog has been limping. | 2022-12-25/..
We lived in Ghent until 2018. | ../2018-01-01
The exhibition is on until June. | ../2023-06-01
The form has to be in by Friday. | ../2023-05-13
By the end of the month I want the tests green. | ../2023-06-01
I quit sugar before Easter. | ../2023-04-09
After 2020 we stopped commuting. | 2021-01-01/..
Last summer I learned to surf in Biarritz. | 2022-06-01/2022-09-01
We went skiing last winter. | 2022-12-01/2023-03-01
This summer we're renting a camper van. | 2023-06-01/2023-09-01
She opened the shop in the fall of 2019. | 2019-09-01/2019-12-01
It all started in winter 2020. | 2020-12-01/2021-03-01
In the spring we planted tomatoes. | 2023-03-01/2023-06-01
Early next week works for me. | 2023-05-15/2023-05-17
In late February the river flooded. | 2023-02-21/2023-03-01
In early 2021 I lost my job. | 2021-01-01/2021-05-01
We met in the mid-1980s. | 1984-01-01/1987-01-01
The end of April was stressful. | 2023-04-21/2023-05-01
We should hear back at the beginning of July. | 2023-07-01/2023-07-11
My grandparents emigrated in the 1950s. | 1950-01-01/1960-01-01
That synth sound is so 80s, the eighties were wild. | 1980-01-01/1990-01-01
The chapel dates from the 17th century. | 1600-01-01/1700-01-01
Our budget for Q3 2023 is already spent. | 2023-07-01/2023-10-01
The second half of 2022 was rough. | 2022-07-01/2023-01-01
The first quarter of 2021 was slow. | 2021-01-01/2021-04-01
I turned thirty on 12 April 2022. | 2022-04-12/2022-04-13
The concert was on March 18th, 2023. | 2023-03-18/2023-03-19
The invoice is dated 03/14/2023. | 2023-03-14/2023-03-15
The outage began on 2023-02-28. | 2023-02-28/2023-03-01
Deployed at 2023-04-30T22:15:00Z. | 2023-04-30/2023-05-01
We signed the lease on the 1st of February. | 2023-02-01/2023-02-02
I'm seeing the dentist on the 22nd. | 2023-05-22/2023-05-23
On the 2nd I got my test results. | 2023-05-02/2023-05-03
Let's aim for Tuesday the 23rd. | 2023-05-23/2023-05-24
The wedding is on Saturday, June 17. | 2023-06-17/2023-06-18
Her birthday is December 5. | 2023-12-05/2023-12-06
He died on the 9th of November, 1989. | 1989-11-09/1989-11-10
We'll be away from 3 to 10 July. | 2023-07-03/2023-07-11
From June 12 to June 16 I'm at a workshop. | 2023-06-12/2023-06-17
I was on call between 20 and 27 April. | 2023-04-20/2023-04-28
The sprint runs May 8-19. | 2023-05-08/2023-05-20
Between 2012 and 2015 I lived in Seoul. | 2012-01-01/2016-01-01
They toured from October to December last year. | 2022-10-01/2023-01-01
From Saturday to Monday I was ill. | 2023-05-06/2023-05-09
I studied there from 2004 to 2008. | 2004-01-01/2009-01-01
Over the last two weeks I've read five papers. | 2023-04-26/2023-05-10
In the past 6 months our costs doubled. | 2022-11-10/2023-05-10
During the last year I've been to nine countries. | 2022-05-10/2023-05-10
In the next few days a courier will call you. | 2023-05-11/2023-05-16
The visa should arrive within the next 10 days. | 2023-05-10/2023-05-21
We open in three days. | 2023-05-13/2023-05-14
The baby is due in two weeks. | 2023-05-24/2023-05-25
We'll talk again in a week. | 2023-05-17/2023-05-18
Ten days from now I'll be in Kyoto. | 2023-05-20/2023-05-21
On Christmas Eve we always watch the same film. | 2022-12-24/2022-12-25
We got engaged on Valentine's Day. | 2023-02-14/2023-02-15
Last Thanksgiving my uncle burned the turkey. | 2022-11-24/2022-11-25
On New Year's Eve 2021 we stayed home. | 2021-12-31/2022-01-01
Two days before Christmas the car broke down. | 2022-12-23/2022-12-24
The week after Easter we fly to Malta. | 2024-04-01/2024-04-08
The Saturday before Halloween 2022 was wild. | 2022-10-29/2022-10-30
The month after March 2022 I changed teams. | 2022-04-01/2022-05-01
Three weeks before 1 June 2022 the funding came through. | 2022-05-11/2022-05-12
The last Sunday of April was sunny. | 2023-04-30/2023-05-01
The first Monday of March was a holiday here. | 2023-03-06/2023-03-07
The second week of January was brutal. | 2023-01-09/2023-01-16
The last day of February I handed in my notice. | 2023-02-28/2023-03-01
The first weekend of April we cleaned the attic. | 2023-04-01/2023-04-03
I was at the gym this morning. | 2023-05-10/2023-05-11
Friday night we had a power cut. | 2023-05-05/2023-05-06
Monday morning I overslept. | 2023-05-08/2023-05-09
Let's have a call tomorrow at 4pm. | 2023-05-11/2023-05-12
The standup is at 9:30 am on Thursday. | 2023-05-11/2023-05-12
Remind me on May 30th to renew the insurance. | 2023-05-30/2023-05-31
I graduated in '98. | 1998-01-01/1999-01-01
Back in 2014 I couldn't cook at all. | 2014-01-01/2015-01-01
In May 2021 the twins arrived. | 2021-05-01/2021-06-01
We bought the house in Feb 2020. | 2020-02-01/2020-03-01
What did I say about the garden in April? | 2023-04-01/2023-05-01
Which bugs did we fix between April 3 and April 14? | 2023-04-03/2023-04-15
How many times did I run last week? | 2023-05-01/2023-05-08
When in 2022 did Priya visit? | 2022-01-01/2023-01-01
The photos from last July are on the drive. | 2022-07-01/2022-08-01
Year to date we've closed 41 deals. | 2023-01-01/2023-05-10
We'll sort out the rest of the week later. | 2023-05-10/2023-05-15
I may go in May, if work allows. | 2023-05-01/2023-06-01
March was cold but in March 2019 it was colder. | 2019-03-01/2019-04-01
The sun was out on Sun 7 May. | 2023-05-07/2023-05-08
Yesterday's standup ran long. | 2023-05-09/2023-05-10
I was up all night, then Saturday I slept. | 2023-05-06/2023-05-07
Back in the summer of '69 he bought a guitar. | 1969-06-01/1969-09-01
We met two summers ago at a festival. | 2021-06-01/2021-09-01
My lease ends at the end of the month. | 2023-05-21/2023-06-01
She'll be back in a fortnight. | 2023-05-24/2023-05-25
The 2018 World Cup was amazing. | 2018-01-01/2019-01-01
I bought it on Black Friday last year. | 2022-11-25/2022-11-26
Can you book a table for next Saturday at 7:30pm? | 2023-05-20/2023-05-21
It's due two weeks from tomorrow. | 2023-05-25/2023-05-26
I finished the book the night before last. | 2023-05-08/2023-05-09
On the night of March 3rd there was a storm. | 2023-03-03/2023-03-04
From late 2019 through early 2021 I was unemployed. | 2019-09-01/2021-05-01
In the first two weeks of June we're closed. | 2023-06-01/2023-06-15
I worked there from Jan 2015 until Aug 2017. | 2015-01-01/2017-09-01
He was in the army in the late 70s. | 1977-01-01/1980-01-01
By 2030 we want to be carbon neutral. | ../2031-01-01
We'll finish before the end of the year. | ../2024-01-01
The store opens on the first of next month. | 2023-06-01/2023-06-02
See you Thursday week. | 2023-05-18/2023-05-19
Half a year ago I started running. | 2022-11-01/2022-12-01
30 minutes ago the server went down. | 2023-05-10/2023-05-11
We closed the deal in Q4. | 2022-10-01/2023-01-01
We have a call on Friday between 2pm and 4pm. | 2023-05-12/2023-05-13
I visited Japan in March and April. | 2023-03-01/2023-04-01 2023-04-01/2023-05-01
We could do June or July. | 2023-06-01/2023-07-01 2023-07-01/2023-08-01
The Monday after next I'm off. | 2023-05-22/2023-05-23
We shipped v2.3.1 on March 1. | 2023-03-01/2023-03-02
Until yesterday everything was fine. | ../2023-05-09
As of January 2023 she's retired. | 2023-01-01/..
Starting Monday, I'm vegan. | 2023-05-15/..
One day last week I saw a fox. | 2023-05-01/2023-05-08
One Saturday in March we went out. | 2023-03-01/2023-04-01
tmrw at 5 works | 2023-05-11/2023-05-12
Late Friday night we got home. | 2023-05-05/2023-05-06
My dad was born in nineteen sixty-two. | 1962-01-01/1963-01-01
The early nineties were fun. | 1990-01-01/1994-01-01
This time last year we were in Spain. | 2022-05-10/2022-05-11
We're meeting up on the 3rd or the 4th. | 2023-06-03/2023-06-04 2023-06-04/2023-06-05
The incident lasted from 02:10 to 03:25 UTC on April 4th. | 2023-04-04/2023-04-05
We froze main on 28 Apr and will cut the release on 12 May. | 2023-04-28/2023-04-29 2023-05-12/2023-05-13
The festival is held June 21st-23rd. | 2023-06-21/2023-06-24
We're in Lisbon 5-12 June, then Porto 13-15 June. | 2023-06-05/2023-06-13 2023-06-13/2023-06-16
Booked it for the second weekend in July. | 2023-07-08/2023-07-10
Christmas break is from Dec 20 to Jan 3. | 2023-12-25/2023-12-26 2023-12-20/2024-01-04
The best trip was in Aug '19. | 2019-08-01/2019-09-01
We'll have results by early next month. | ../2023-06-11
The morning after Halloween was rough. | 2022-11-01/2022-11-02
Almost a decade ago I left Poland. | 2013-01-01/2014-01-01
Over the coming weeks we'll hire. | 2023-05-11/2023-06-15
Between mid-March and early May I traveled. | 2023-03-11/2023-05-11
The summer before last we toured Norway. | 2021-06-01/2021-09-01
The weekend of June 3rd works. | 2023-06-03/2023-06-05
He was born in 85. | 1985-01-01/1986-01-01
omg last nite was crazy | 2023-05-09/2023-05-10
My shift is from 10pm to 6am tonight. | 2023-05-10/2023-05-11
Lunch at 12:30 on Wednesday the 17th? | 2023-05-17/2023-05-18
Deadline: 31st May, 23:59 UTC. | 2023-05-31/2023-06-01
I'm out of office May 22 - June 2. | 2023-05-22/2023-06-03
In the days before Christmas it snowed. | 2022-12-20/2022-12-25
6 mos ago I couldn't run. | 2022-11-01/2022-12-01
In the 80s and 90s we had tapes. | 1980-01-01/1990-01-01 1990-01-01/2000-01-01
Later in May there's a fair. | 2023-05-16/2023-06-01
I have an appointment on the second Tuesday of next month. | 2023-06-13/2023-06-14
The warranty expired a month ago yesterday. | 2023-04-09/2023-04-10
I was in hospital from the 12th to the 15th of April. | 2023-04-12/2023-04-16
I'll be away the 20th through the 27th. | 2023-05-20/2023-05-28
Three Saturdays from now is the gala. | 2023-06-03/2023-06-04
Four weeks from this Friday is graduation. | 2023-06-09/2023-06-10
Were there any outages in the past 24 hours? | 2023-05-09/2023-05-10
List commits since last Monday. | 2023-05-08/..
She joined us mid-2021 and left in early '23. | 2021-05-01/2021-09-01 2023-01-01/2023-05-01
Rent went up as of the first of this month. | 2023-05-01/..
I'm away through Friday. | ../2023-05-13
I lived in Paris in 2010, 2011 and 2012. | 2010-01-01/2011-01-01 2011-01-01/2012-01-01 2012-01-01/2013-01-01
The last two Fridays I worked late. | 2023-04-28/2023-05-06
FY23 Q1 was weak. | 2023-01-01/2023-04-01
The 2020/2021 season was cancelled. | 2020-01-01/2022-01-01
At dawn on Sunday we set off. | 2023-05-07/2023-05-08
Any Tuesday in June works for me. | 2023-06-01/2023-07-01
We'll meet at noon on Friday. | 2023-05-12/2023-05-13
From the 60s through the 80s he taught. | 1960-01-01/1990-01-01
In under two weeks we launch. | 2023-05-24/2023-05-25
How have things gone for you lately? | 2023-04-26/2023-05-11
My visa expires in a month. | 2023-06-10/2023-06-11
He was in hospital due to the flu in January. | 2023-01-01/2023-02-01
we're moving this may | 2023-05-01/2023-06-01
I've been swimming every Wednesday evening since mid-January. | 2023-01-11/..
The party is in a week. | 2023-05-17/2023-05-18
The party was two weekends ago. | 2023-04-29/2023-05-01
"""

NOT_SAID = """
Of the four tents ours leaks most, then comes the wind, and we sleep on the second.
The third shelf is full and the jars go on the second.
Friday's child is loving and giving.
We may march if the august committee lets us.
The app listens on port 8080 and falls back to 1999.
Upgrade to Python 3.12.1 or pandas 2.0.3 please.
It costs $2,023 plus 19% tax.
Call me at 555-867-5309 or +44 20 7946 0958.
The final score was 3-1, then 4-2 on penalties.
I wear a size 10 and live at number 1984.
Room 2010 is on the 3rd floor, second door.
ISBN 978-3-16-148410-0 is out of print.
Give me a second, I'll be right with you.
She came second and he finished third.
The sun sat low while we wed our ideas together.
Don't fall for it; spring into action.
There's a spring in the mattress.
He will march the band past the gates.
Mark my words, this will end badly.
We have to second the motion.
Add 1/2 cup of sugar and 3/4 cup of milk.
I got 9/10 on the quiz.
The ratio is 16:9 and the odds are 3:1.
Line 2024 throws an error, see RFC 2616.
The train has 12 cars and 2000 seats.
April and June are my cousins.
May I ask you something?
August Wilson wrote plays.
I ate a sundae and dated a moneylender.
The fourth chapter is the best.
It's the first time I've tried oysters.
He's in fifth grade.
They live on Fifth Avenue.
The 2nd edition sold 1500 copies.
We walked 2000 steps and burned 1950 calories.
I'd like my eggs over easy, please.
She has a good sense of timing and a dated haircut.
At the end of the day, it's your call.
The minute hand is broken.
That was a last minute decision.
We decided in a minute, not more.
The mall is open 24/7.
Our flight is BA2023, gate 14.
You can count on me, he said.
Use commit 20a3f1c or tag v2.1.0.
My locker combination is 12-24-36.
The model has 1900 parameters per layer.
Temperatures hit 40 degrees.
I bought 3 apples and 12 eggs.
She's number one in my book.
The decent thing would be to apologise.
He sat down and Jan laughed.
The quarterback threw a spiral.
Take exit 19 off highway 2020.
The password is hunter2015.
Their monthly newsletter is decent.
I have a yearly checkup and a daily vitamin.
We hold a weekly sync.
It took us three hours to get there.
He served for six years in the navy.
The film lasts two and a half hours.
A three-day course is enough.
I'm in my thirties and my dad in his sixties.
Seven days make a week.
There are 365 days in a year.
Fix bug 1987 before you merge.
The morning person in me disagrees.
We do this every Monday.
I call my grandma twice a week.
The year of the dragon is a film.
She is 1.75 m tall and weighs 68.5 kg.
Version 2023 R2 needs 16GB of RAM.
I scored 21 of 30 on the test.
Chapter 5 verse 12 is my favorite.
The recipe needs 2 to 3 cups of flour.
Pick a number between 1 and 10.
Turn to page 12 of the manual.
We have two or three options here.
He lives at 12 March Street.
Is June coming to dinner with April?
My name is August and this is May.
May be it's fine, may be not.
You may 1 day regret it.
The fall of Rome took centuries.
The spring was cold to the touch, fresh water.
The sat nav broke.
Mon ami, how are you?
We won 5-3 and lost 2-1.
The dimensions are 10x12x3.
Ratio of 4:3 looks off.
It's 20-30 percent cheaper.
The bill was 45.50 and the tip 5.10.
I need 1.5 liters of milk.
My phone number is 0151 2345678.
Order #20230415 has shipped.
Ticket ABC-2023 is closed.
The error code is 2003.
Use Java 17 or Node 18.
IP address 192.168.1.12 is taken.
It's on channel 4 at stage 2.
Take 2 pills and call me.
One second, please.
Just a minute!
Second, we need a plan.
First, the good news.
Last but not least, thanks.
At last, a break!
The last one was better.
Next, we deploy.
The next step is testing.
This is the last straw.
Long time no see.
Time flies.
It's about time.
Once upon a time there was a king.
From time to time I smoke.
Take your time.
She's a full-time student with a part-time job.
I had the time of my life.
All day long he complains.
The day shift is tough.
He works nights.
What a day!
Day by day it gets better.
These are the good old days.
Someday I'll visit Peru.
One day I'll be rich.
The week is flying.
My weekdays are packed.
It's a weekend bag.
Weekend trips are the best.
Happy hour starts soon after.
We'll see soon enough, as soon as it's ready.
I'm early, you're late.
The late Mr. Smith was kind.
Early bird gets the worm.
The morning coffee tastes great.
Good morning! Good night!
Good evening, everyone.
It was a dark night.
Noon is my cat's name.
I ate a date and an apple a day.
The date was awkward.
Update the dates table.
He gave a second chance to the third contestant.
A quarter of the cake, half of the pie.
Quarter pounder with cheese.
Half the team is out.
Five of us went, and ten stayed.
She has 20 20 vision.
I live on 42nd Street.
The 1920 census was lost.
In 3D it looks great.
The 7 habits of effective people
We're number 1 in 10 countries.
He ran a 4:30 mile.
The Bible, John 3:16.
She won by 10 seconds.
Do 3 sets of 12 reps.
Win 11 of 12 games.
40 years old and still going.
My 5 year old loves it.
A 10-year-old boy found it.
A two-year contract is fine.
Twenty twenty vision would be nice.
Version 2.5 was released.
In version 2019.3 it broke.
It's rated 4.5 out of 5.
I paid 1999 for it.
We raised 2015 dollars.
About 2000 people came, around 1950 of them paid.
Up to 2000 users can log in.
From 1500 to 2000 calories a day.
The year is a long time.
Years of practice paid off.
For years I believed it.
In years past we did.
It's a matter of days.
Within hours it was gone.
A month's rent is due.
It takes months.
The decade-long war ended.
The week after my vacation was hell.
The day before my flight I packed.
I got my licence in the spring of my senior year.
Three days after we moved the roof leaked.
Happy Monday, everyone.
I read 1984 in school.
Blade Runner 2049 is great.
When I was ten we moved to Ohio.
Merry Christmas!
It was on a Tuesday.
The following month I got the job.
Fresh tomatoes typically last 3 days.
Our office in Winter Park is closed.
We stopped over in Rio de Janeiro, Brazil.
In week 3 of the course we build a parser.
Next time I'll bring cake.
The kids are excited about summer break.
We had too many late nights.
Beware of low fees, as this may point to a lack of experience.
It is a perfect blend of fall flavors.
You cannot see it all in one day.
I set the mouse to a total of 1950.
Her best in the quarter-mile is 12.8 seconds.
I'm often invited to several events in a week.
We lived there between the ages of 5 and 9.
"""


def said() -> list[tuple[str, list[list[str | None]]]]:
    """Each sentence with the intervals expected, as `[start, end]` in days."""
    cases = []
    for line in SAID.strip().splitlines():
        text, _, wanted = line.rpartition(" | ")
        sides = [pair.split("/") for pair in wanted.split()]
        cases.append((text, [[None if side == ".." else side for side in pair] for pair in sides]))
    return cases


def not_said() -> list[str]:
    """Sentences with nothing to find."""
    return NOT_SAID.strip().splitlines()
