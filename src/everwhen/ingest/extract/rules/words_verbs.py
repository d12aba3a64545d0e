"""Other words for what people do, in groups of one meaning: our own table.

A line is `verbs | other words, past tense, … where an object goes | phrases that stand alone`. A particle belongs to
the verb before it. A verb of two lines has the words of both, those of the first line first.
"""

from __future__ import annotations

MORE_VERBS = """
talk speak chat converse|had a conversation with …;exchanged words with …|had a talk;caught up
pay off|was worth it;brought results;bore fruit|turned out well
hang out|spent time with …;kept … company|got together;spent time in company
face confront|had to deal with …;was up against …|was challenged;had a hard time
struggle wrestle|had a hard time with …;found … difficult|had difficulties;fought on
stoke thrill excite pump delight|made … very happy;filled … with joy|was overjoyed;was full of enthusiasm
feel|had a sense of …;was moved by …|had an emotion;went through emotions
be|found oneself in …;was part of …|spent time there;was present
become turn|grew into …;ended up as …|changed;took a new shape
develop evolve|brought … forward;worked out …|made progress;grew over time
miss|was not there for …;longed for …;let … slip by|was absent;came too late
capture snap photograph shoot|took a picture of …;caught … on camera|took pictures;used a camera
provide supply offer|made … available;gave …|was of service;made it available
rehearse|went over …;practised …|prepared for the stage;did a run-through
push|urged …;pressed …;drove … forward|kept at it;tried hard
network|made contacts at …;met people at …|made contacts;got to know people
sit|took a seat in …;rested on …|took a seat;was seated
stand|was on one's feet in …;took up a place in …|was upright;got to one's feet
stay remain|did not leave …;lodged at …|did not leave;spent the night
keep|held on to …;did not give up …|went on;did not stop
overcome|got the better of …;beat …;got past …|came out stronger;got through it
serve|dished up …;waited on …|dished up a meal;did one's duty
show up turn up|made an appearance at …;came to …|made an appearance;was there
turn out|proved to be …;ended up as …|ended that way;proved so
revise edit rewrite redraft|went over … again;made changes to …|made corrections;made changes
decide|made up one's mind about …;settled on …|made up one's mind;came to a decision
choose select pick|went for …;settled on …;opted for …|made a choice;made a selection
swamp overwhelm|was too much for …;flooded …|had too much to do;was snowed under
bless|gave a blessing to …;wished … well|was fortunate;was lucky
help out assist aid|gave a hand with …;was of use to …|lent a hand;made oneself useful
march parade|walked in a crowd for …;took to the streets for …|took to the streets;walked in a crowd
demonstrate protest|walked in a crowd for …;took to the streets for …|took to the streets;walked in a crowd
hide conceal|kept … out of sight;covered up …|kept out of sight;stayed unseen
feed|gave … to eat;nourished …|gave out food;handed out a meal
empower|gave … strength;made … stronger|gave strength;made people stronger
remember recall recollect|thought back to …;had … in mind|thought back;had memories
forget|did not think of …;left … out|had no memory of it;let it slip
inspire motivate encourage|gave … the courage;spurred … on|gave courage;spurred people on
carry haul lug|bore …;took … along|bore a load;had a weight to bear
roast grill fry boil steam|prepared … over heat;cooked …|cooked a meal;stood at the stove
roadtrip|drove a long way through …;toured … by car|drove a long way;toured by car
freak out panic|lost one's nerve over …;got scared by …|lost one's nerve;got scared
impress amaze astonish|left … in awe;made a mark on …|left people in awe;made a strong impression
stun mesmerize dazzle wow|left … in awe;made a mark on …|left people in awe;made a strong impression
pay|spent money on …;settled the bill for …|spent money;settled a bill
picture envision visualise visualize|saw … in the mind;had an idea of …|had a vision;saw it in the mind
search hunt seek|looked for …;tried to find …|went looking;tried to find it
say state remark declare|uttered …;put … into words|put it into words;spoke up
design|drew up …;came up with …|drew up plans;did creative work
expand enlarge extend widen broaden|made … bigger;stretched …|grew;became bigger
sink drown|went under with …;put … under water|went under;went down
look up|searched for …;checked …|checked it;searched for information
look into|examined …;asked around about …|asked around;made inquiries
look after|took care of …;watched over …|was a carer;took care
look forward|awaited … with joy;was eager for …|was eager;could hardly wait
step|moved into …;set foot in …|moved a foot;made a move
scare frighten terrify spook|gave … a fright;made … afraid|had a fright;was afraid
wrap up conclude|brought … to an end;completed …|came to an end;got it done
mentor coach tutor guide|gave … advice;showed … the way|gave advice;showed the way
dance|moved to …;performed steps to …|moved to music;took to the floor
acquire obtain gain secure|got hold of …;came by …|got hold of it;made a gain
rock|was a success at …;shook …|was a success;did very well
brainstorm|came up with ideas for …;thought about … together|came up with ideas;put heads together
ask inquire|put a question to …;wanted to know from …|put a question;wanted to know
discuss debate|went over …;talked … through|had a debate;talked it through
rely depend count|trusted in …;leaned on …|needed support;trusted
brighten up cheer up|made … happier;lifted …|got happier;lifted spirits
recreate reproduce replicate copy|made … once more;imitated …|made it once more;made an imitation
form establish found|set up …;brought … into being|came into being;was set up
blog vlog|posted online about …;wrote entries on …|posted online;wrote entries
research investigate explore|looked into …;gathered information on …|gathered information;did some digging
fulfil fulfill achieve accomplish attain reach|made … come true;succeeded in …;got to …|met a goal;succeeded
realize realise|became aware of …;came to see …|became aware;it dawned
comfort console soothe calm|gave … solace;made … feel better|gave solace;eased the pain
question doubt|had doubts about …;was not sure of …|had doubts;was not sure
power|drove …;kept … running|kept it running;gave energy
laugh giggle|found … funny;was amused by …|was amused;had a good time
cry weep sob|shed tears over …;was in tears about …|shed tears;was in tears
leave depart|went away from …;set off from …|went away;set off
lack|was without …;had no …|was short of it;went without
ruin spoil wreck destroy|made a mess of …;wiped out …|went wrong;did great damage
uplift|raised …;lifted …|raised spirits;felt lighter
drop off deliver|brought … over;left … at the door|made a delivery;brought it over
respond reply answer|got back to …;wrote back about …|got back;gave a reaction
pull drag|tugged at …;drew …|tugged;used force
tank|crashed in …;went badly in …|went badly;was a failure
stay up|was awake for …;did not sleep for …|was awake late;went to bed late
check in|registered at …;looked in on …|registered;looked in
check|looked over …;made sure of …|made sure;took a look
come up|arose at …;was mentioned in …|arose;was mentioned
come out|was published as …;told the world about …|was published;told the world
come over drop by stop by|paid a visit to …;called at …|paid a visit;called at the house
come home get home|got back to …;returned from …|got back;was under one's own roof
go on|continued …;carried on with …|continued;carried on
go out|left the house for …;had an evening with …|left the house;had an evening on the town
go back|returned to …;was at … once more|returned;was there once more
go through undergo endure suffer|experienced …;lived through …|had a hard time;lived through it
go over|had a second look at …;examined …|had a second look;checked it
go well|was a success for …;worked out for …|was a success;worked out
go wrong|failed in …;broke …|failed;there was trouble
get up wake wake up|got out of bed for …;rose for …|got out of bed;the day began
get back|returned from …;recovered …|returned;was home once more
get away escape flee|took off from …;left … behind|took off;left it all behind
get married wed|became a spouse of …;exchanged rings with …|tied the knot;exchanged vows
get along|was on good terms with …;liked …|was on good terms;was friends
get over|recovered from …;left … behind|recovered;moved on
get together gather assemble|met up with …;came together for …|met up;came together
get rid|threw out …;disposed of …|threw it out;disposed of it
get started|kicked off …;took first steps in …|kicked off;took the first steps
give back return|handed … back;restored …|handed it back;did something in return
give birth|brought … into the world;became a parent of …|became a parent;had a newborn
take up|began to do …;started with …|began a hobby;started with it
take off|removed …;left the ground with …|left the ground;removed it
take over|took charge of …;assumed control of …|took charge;was in command
take part|joined in …;was involved in …|joined in;was involved
take out|went on a date with …;removed …|went on a date;removed it
take care|looked after …;saw to …|looked after it;was a carer
take away remove|got rid of …;cleared … away|cleared it away;got rid of it
take on|accepted …;faced …|accepted it;faced a challenge
put up hang|mounted …;fixed … to the wall|mounted it;fixed it to the wall
put on wear dress|had … on;was clad in …|was clad;got ready
put off postpone delay reschedule|moved … to a later date;pushed … back|moved it to a later date;had to wait
put together assemble|built …;made … from parts|built it;made it from parts
put down|noted …;laid … aside|noted it;laid it aside
put|placed …;laid …|placed it;laid it down
set|placed …;fixed …;laid down …|fixed it;laid it down
work out exercise|trained at …;did sports at …|trained;did sports
work on|spent effort on …;was busy with …|was busy;made an effort
try attempt|made an effort at …;gave … a shot|made an effort;gave it a shot
use utilise utilize employ|made use of …;worked with …|made use of it;worked with it
need require want desire wish|could not do without …;asked for …|was in want;asked for it
like love adore enjoy|took pleasure in …;was fond of …|took pleasure in it;had a good time
hate dislike detest|could not stand …;had an aversion to …|could not stand it;had an aversion
think consider ponder reflect|had … in mind;turned … over in the mind|had thoughts;weighed it
know|was familiar with …;was aware of …|was familiar with it;was aware
believe trust|had faith in …;relied on …|had faith;relied on it
hope|wished for …;counted on …|wished for it;had high expectations
want|wished for …;had a desire for …|wished for it;had a desire
understand grasp get it|made sense of …;saw the point of …|made sense of it;saw the point
mean intend|had … in mind;aimed at …|had it in mind;aimed at it
worry stress fret|was uneasy about …;lost sleep over …|was uneasy;lost sleep
relax unwind chill|took a break with …;calmed down with …|took it easy;calmed down
sleep nap|spent the night in …;dozed in …|was in bed;got some shut-eye
dream|had visions of …;longed for …|had visions;longed for it
wait|stood by for …;held on for …|stood by;held on
hold|had … in hand;kept …|kept it;had it in hand
hug embrace kiss cuddle|put arms around …;showed affection to …|showed affection;put arms around
touch|came in contact with …;moved …|made contact;was moving
throw toss|flung …;hurled …|flung it;let it fly
catch|got hold of …;seized …|got hold of it;seized it
drop|let … fall;gave up …|let it fall;gave it up
lift|picked … up;raised …|raised it;hoisted it
hit strike knock bump|ran into …;banged against …|had a collision;banged into it
cut slice chop|divided … with a knife;trimmed …|used a knife;trimmed it
tear rip|pulled … apart;made a hole in …|pulled it apart;made a hole
crash collide|ran into …;had an accident with …|had an accident;had a collision
slip trip stumble|lost one's footing on …;fell over …|lost one's footing;took a tumble
hurt injure wound|did harm to …;caused pain to …|was in pain;had a wound
heal cure treat|made … well;gave … medical care|got well;had medical care
diagnose|found … to be ill;identified an illness in …|got medical results;an illness was found
cough sneeze catch cold|was ill with …;came down with …|was ill;came down with something
operate|performed surgery on …;ran …|had surgery;was under the knife
vaccinate|gave … a jab;protected … against disease|got a jab;got a shot
smoke vape|lit up …;puffed on …|lit up;had a cigarette
drink|had … in a glass;swallowed …|had a glass;quenched a thirst
eat dine lunch|had … for a meal;tasted …|had a meal;was at the table
taste sample|tried …;had a bite of …|had a bite;tried it
order|asked for …;requested …|made a request;sent for it
cost|set … back;came at a price for …|came at a price;was expensive
spend|paid out …;used up …|paid out;used it up
earn|was paid …;brought home …|was paid;brought home wages
owe|was in debt for …;had … to pay|was in debt;had to pay
invest|put money into …;backed …|put money in;backed it
lend loan|let … have it for a while;gave … for a time|gave it for a time;made an advance
steal rob|took … without asking;made off with …|took it without asking;committed theft
trade exchange swap|gave … for something else;bartered …|made a deal;bartered
count|added up …;kept a tally of …|added up;kept a tally
measure weigh|took the size of …;determined …|took the size;determined it
compare|set … side by side;looked at … next to others|looked at both;set them side by side
collect gather|brought … together;amassed …|brought it together;amassed things
pack unpack|put … in boxes;filled a bag with …|filled bags;got boxes ready
load unload|put … on board;filled … up|put it on board;filled it up
clean tidy wash mop sweep vacuum dust|made … spotless;got the dirt off …|did the housework;made it spotless
iron fold|smoothed …;did the laundry with …|did the laundry;smoothed it
decorate renovate remodel redecorate|did up …;made … look new|did up the place;made it look new
furnish|fitted out …;put chairs and tables in …|fitted it out;made it a home
build construct|put up …;raised …;made … from scratch|did construction;made it from scratch
demolish tear down|knocked down …;razed …|knocked it down;razed it
dig|made a hole in …;turned over …|made a hole;turned over the earth
water|gave … a drink;sprinkled …|sprinkled;held the hose
harvest pick up reap|brought in …;gathered …|brought in the crop;gathered the crop
fish|tried to catch …;was out with a rod for …|was out with a rod;sat by the water
hunt|went after …;tracked …|was out with a gun;tracked game
ride|sat on …;travelled on …|travelled;was in the saddle
cycle bike|pedalled to …;rode on two wheels to …|pedalled;rode on two wheels
drive|steered …;was at the wheel of …|was at the wheel;took the car
fly|took a plane to …;was in the air to …|took a plane;was in the air
sail row paddle kayak canoe|was on the water in …;crossed … by boat|was on the water;took a boat
ski snowboard skate surf|slid down …;glided over …|did winter or water sports;glided along
climb ascend|made it up …;scaled …|made it to the top;scaled it
descend|made it down …;went down …|made it down;lost height
enter|went into …;came into …|went inside;came in
exit|got out of …;went out from …|got out;went outside
cross|got to the other side of …;traversed …|got to the other side;traversed it
follow|came after …;kept to …|came after;kept to it
lead head|was in charge of …;showed … the way|was in charge;showed the way
join|became a member of …;came along to …|became a member;came along
quit|walked away from …;gave up …|walked away;gave it up
hire recruit|gave a job to …;took on …|filled a post;took on staff
fire lay off dismiss sack|let … go;took the job from …|cut jobs;let people go
interview|asked … questions for a job;met … about a position|had a job talk;answered questions
promote|raised … in rank;advertised …|rose in rank;got a better post
assign|gave … a task;put … in charge|handed out tasks;put in charge
delegate|passed … on;let others do …|passed it on;let others do it
present|gave a talk on …;showed … to an audience|gave a talk;spoke to an audience
report|gave an account of …;brought news of …|gave an account;brought news
announce|made … known;gave notice of …|made it known;gave notice
publish post|made … public;put … online|made it public;put it online
print|put … on paper;made copies of …|made copies;put it on paper
draw sketch doodle|made a picture of …;put … in lines|made a picture;used a pencil
paint|brushed colour on …;made a picture of …|used a brush;made a picture
sculpt carve|shaped … by hand;formed …|shaped it by hand;worked with a chisel
sew knit|made … with needle and thread;worked yarn into …|worked with needle and thread;did needlework
crochet stitch weave|made … with needle and thread;worked yarn into …|worked with needle and thread;did needlework
sing hum|performed … with the voice;gave voice to …|gave voice;performed a song
record film tape|made a recording of …;kept … on file|made a recording;held the camera
listen|gave an ear to …;heard …|gave an ear;paid attention
hear|got word of …;listened to …|got word;it came to one's ears
watch observe view|kept an eye on …;looked at …|kept an eye on it;looked on
notice spot see|caught sight of …;became aware of …|caught sight of it;became aware
find|came upon …;hit upon …|came upon it;hit upon it
show|let … be seen;displayed …|let it be seen;put it on display
share|let others have …;told others of …|let others have it;told others
teach educate train|gave … instruction;made … learn|gave instruction;was an instructor
learn|picked up knowledge of …;found out about …|picked up knowledge;found out
study|read up on …;was a student of …|read up;hit the books
practice practise|worked at …;did exercises in …|worked at it;did exercises
pass|made it past …;cleared …|made it;cleared it
fail flunk|was not successful at …;fell short in …|was not successful;fell short
graduate|got a diploma from …;left … with a degree|got a diploma;left with a degree
enrol enroll register sign up|put one's name down for …;got a place in …|put one's name down;got a place
apply|sent in papers for …;asked for …|sent in papers;asked for a place
accept|said yes to …;took …|said yes;took it
reject refuse decline|said no to …;turned down …|said no;turned it down
agree|said yes to …;was of one mind on …|said yes;was of one mind
disagree argue fight quarrel|had words about …;was at odds over …|had words;was at odds
apologise apologize|said sorry to …;asked … to forgive|said sorry;asked to be forgiven
forgive|let … off;pardoned …|let it go;pardoned
thank appreciate|showed gratitude for …;was grateful to …|showed gratitude;was grateful
congratulate|wished … joy;praised …|wished joy;gave praise
praise compliment|spoke well of …;said kind things about …|spoke well of it;said kind things
complain|grumbled about …;was unhappy with …|grumbled;was unhappy
criticise criticize blame|found fault with …;put the guilt on …|found fault;put the guilt on somebody
warn|told … of danger;cautioned …|told of danger;cautioned
promise swear vow|gave one's word on …;pledged …|gave one's word;made a pledge
lie|did not tell the truth about …;misled …|did not tell the truth;was dishonest
admit confess|owned up to …;came clean about …|owned up;came clean
explain describe|made … clear;gave details of …|made it clear;gave details
mention|brought up …;spoke of …|brought it up;spoke of it
suggest propose recommend advise|put forward …;gave the advice of …|put it forward;gave advice
persuade convince|won … over;talked … round|won people over;talked somebody round
ask out|wanted a date with …;invited … to dinner|wanted a date;made an invitation
date|went out with …;was seeing …|was seeing somebody;went on dates
flirt|made eyes at …;showed interest in …|made eyes;showed interest
break up split split up separate|ended things with …;left …|ended a relationship;went separate ways
reconnect reunite make up|got back in touch with …;saw … again|got back in touch;saw each other again
text message email write|sent a note to …;wrote to …|sent a note;wrote a few lines
call phone ring facetime zoom|spoke to … on the line;gave … a ring|was on the line;gave a ring
send mail post ship|put … in the mail;had … delivered|put it in the mail;had it delivered
receive get|was handed …;came into …|was handed it;it arrived
open unwrap|took the cover off …;undid …|undid it;took the cover off
close shut lock|brought … to a close;sealed …|brought it to a close;sealed it
turn on switch on|started up …;set … going|started it up;set it going
turn off switch off unplug|shut down …;cut the power to …|shut it down;cut the power
install set up configure|got … running;put … in place|got it running;put it in place
download upload|transferred …;got … from the net|transferred it;got it from the net
save back up|kept a copy of …;stored …|kept a copy;stored it
delete erase|got rid of …;wiped …|got rid of it;wiped it
debug troubleshoot|found the fault in …;tracked down the problem with …|found the fault;tracked down the problem
refactor|cleaned up …;restructured …|cleaned up the code;restructured it
review|looked over …;gave feedback on …|looked it over;gave feedback
approve|gave the go-ahead for …;signed off on …|gave the go-ahead;signed off
block|held up …;stood in the way of …|held things up;stood in the way
migrate port convert|moved … over;transferred …|moved it over;transferred it
implement code program|wrote the code for …;made … work|wrote code;made it work
commit|checked in …;dedicated oneself to …|checked it in;was dedicated
launch roll out|brought … to market;introduced …|went public;brought it to market
monitor track|kept watch on …;followed …|kept watch;followed it
fix|got … working;repaired …|got it working;did a repair
break|damaged …;put … out of order|was damaged;was out of order
leak spill pour|let … run out;made a mess with …|ran out;made a mess
burn|set fire to …;charred …|was on fire;was charred
freeze|turned … to ice;was very cold in …|turned to ice;was very cold
melt|turned … to liquid;lost … to the heat|turned to liquid;gave way to the heat
rain snow storm pour down|was wet in …;came down on …|was wet outside;bad weather came
grow|became bigger in …;raised …|became bigger;got taller
shrink decrease reduce cut back|made … smaller;brought … down|got smaller;went down
increase rise|made … more;sent … up|went up;became more
improve|made … better;raised the level of …|got better;made progress
change alter adjust adapt|made … different;modified …|became different;made a shift
replace|put something new in place of …;swapped out …|put in a new one;swapped it out
continue resume|carried on with …;kept up …|carried on;kept going
stop cease|put an end to …;no longer did …|put an end to it;no longer did it
end|came to a close with …;finished …|came to a close;was over
survive|lived through …;made it through …|lived through it;made it through
die|lost one's life to …;was taken by …|lost one's life;was gone
kill|took the life of …;put an end to …|took a life;put an end to it
mourn grieve|was in sorrow over …;missed …|was in sorrow;was heartbroken
pray worship|spoke to God about …;held a service for …|spoke to God;was at a service
meditate|sat in silence with …;cleared the mind with …|sat in silence;cleared the mind
vote elect|cast a ballot for …;chose …|cast a ballot;made a choice
celebrate|held a party for …;marked …|held a party;had cause for joy
surprise|did the unexpected for …;caught … off guard|did the unexpected;caught people off guard
prepare|got … ready;made … in advance|got ready;made plans
practise|worked at …;did … again and again|worked at it;did it again and again
explore|looked around …;got to know …|looked around;got to know the area
travel tour|went around …;saw the sights of …|saw the sights;was on the road
land arrive|got in at …;came to …|got in;came down
board|got on …;entered …|got on;entered
rent lease|paid to use …;had … for a fee|paid to use it;took it for a fee
host entertain|had … as guests;put on …|had guests;put on an event
invite|asked … to come;wanted … there|asked people to come;sent invitations
attend|was at …;sat in on …|was there;sat in
perform act|was on stage with …;put on …|was on stage;put on a show
win|was the best in …;beat others at …|was the best;beat the others
lose|was beaten at …;no longer had …|was beaten;no longer had it
compete race|took part in a contest of …;was up against …|took part in a contest;was up against others
score|made a point in …;got a goal in …|made a point;got a goal
train|got fit for …;did exercises for …|got fit;did exercises
stretch|loosened …;made … longer|loosened up;did a warm-up
breathe|took in air in …;inhaled …|took in air;inhaled
bond connect|grew close to …;formed a tie with …|grew close;formed ties
care|had feelings for …;looked after …|had feelings;looked after somebody
adopt|made … part of the family;took on …|made it part of the family;took somebody in
babysit|watched the children of …;minded …|watched the kids;minded children
walk stroll wander|went on foot through …;took steps in …|went on foot;took some steps
donate contribute|gave … for a cause;handed over …|gave for a cause;made a gift
volunteer|gave time to …;worked for free at …|gave time;worked for free
raise|brought up …;collected …|brought it up;collected funds
protect defend guard|kept … safe;stood up for …|kept it safe;stood up
support|was there for …;gave backing to …|was there for others;gave backing
fund finance sponsor|paid for …;gave money to …|gave money;paid for it
manage handle|dealt with …;took care of …|dealt with it;coped
organise organize arrange coordinate|set … up;put … in order|set it up;put it in order
schedule|set a date for …;put … on the calendar|set a date;put it on the calendar
plan|made arrangements for …;mapped out …|made arrangements;mapped it out
cancel|called … off;did not go through with …|called it off;did not go through with it
confirm verify|made sure of …;said yes to …|made sure;said yes
solve resolve figure out|found the answer to …;worked out …|found the answer;worked it out
analyse analyze examine inspect|took a close look at …;went through … in detail|took a close look;went into detail
test evaluate assess|checked how well … works;put … to the test|put it to the test;checked how it works
create invent compose|came up with …;brought … into being|came up with it;made something new
bake|made … in the oven;prepared …|used the oven;made a treat
mix stir blend|put … together in a bowl;combined …|used a bowl;combined it
tweak tune|made small changes to …;adjusted …|made small changes;adjusted it
validate prove|showed … to be true;backed up …|showed it to be true;backed it up
notify inform update|let … know;brought … up to speed|let people know;brought people up to speed
identify recognise recognize|knew … at sight;made out …|knew it at sight;made it out
experience|went through …;lived …|went through it;had an adventure
benefit|got something out of …;profited from …|got something out of it;profited
succeed|did well at …;made it in …|did well;made it
progress advance|moved ahead with …;got further in …|moved ahead;got further
settle settle in|made a home in …;got used to …|made a home;got used to it
bring up|raised the subject of …;spoke about …|raised a subject;spoke about it
bring back|returned with …;took … home|returned with it;took it home
pick up|collected …;fetched …|collected it;fetched it
run out|had no more of …;used up …|had none left;used it up
run into bump into|met … by chance;came upon …|met by chance;came upon somebody
fall apart|went to pieces over …;broke down over …|went to pieces;came undone
fall asleep|dropped off during …;nodded off in …|dropped off;nodded off
fall behind|was late with …;lagged in …|was late;lagged
catch up|exchanged news with …;got the latest from …|exchanged news;got the latest
sign|put a name under …;made … official|put a name under it;made it official
belong|was part of …;fitted in with …|was part of it;fitted in
stick|held to …;did not give up …|held to it;did not give up
shop browse|looked around … for things to buy;bought things at …|bought things;was at the stores
have|was in possession of …;could call … one's own|was there;went through it
make|brought about …;came up with …|got it done;brought it about
take|laid hands on …;got hold of …|got hold of it;made use of it
do|saw to …;was busy with …|was busy;saw to it
come|got to …;was at …|got there;was present
get|came by …;ended up with …|came by it;ended up with it
fill|put … to the brim;made … full|was full;was to the brim
boost|gave a lift to …;made … stronger|gave a lift;made it stronger
collaborate team up cooperate|worked together with …;joined forces with …|worked together;joined forces
light up illuminate|made … bright;put a glow on …|shone;gave off a glow
last|went on for …;took …|went on for a while;took its time
remind|brought … back to mind;made … think of it|brought it back to mind;made one think of it
cherish treasure value|held … dear;thought the world of …|held it dear;was precious
recharge decompress|got energy back from …;rested after …|got energy back;took a rest
pitch|tried to sell …;made a case for …|made a case;tried to sell it
tackle|got to grips with …;dealt with …|got to grips with it;dealt with it
appear emerge|came into view at …;was seen in …|came into view;was seen
consume|used up …;ate or drank …|used it up;had its fill
upset bother annoy|made … unhappy;got on the nerves of …|was unhappy;had a bad day
blow|sent air into …;ruined …|was windy;came to nothing
tinker|played around with …;tried to repair …|played around;tried things out
trek|walked a long way in …;crossed … on foot|walked a long way;was on foot for days
stare gaze|looked long at …;could not take eyes off …|looked long;fixed one's eyes on it
root|cheered for …;was on the side of …|cheered;took sides
absorb|took in …;soaked up …|took it in;soaked it up
live|had a home in …;dwelt in …|had a home;dwelt there
participate engage|was one of those in …;played a part in …|was one of them;played a part
draft outline|wrote a first version of …;put … on paper|wrote a first version;put it on paper
dress up|put on a costume for …;wore fine clothes to …|wore fine clothes;had a costume
style|made … look good;did the look of …|made it look good;did the look
""".strip()
