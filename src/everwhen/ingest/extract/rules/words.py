"""Other words for what people do and have: the lexical table behind aliases.

Verbs in groups of one meaning (given as pasts, with a phrase that needs no object), nouns under what they are.
"""

from __future__ import annotations

from everwhen.ingest.extract.rules.wordlist import vocabulary

# verb(s) | other words, past tense; those that end in … take an object | phrases that stand alone
_VERBS = """
buy purchase order get pick up|picked up …;purchased …;acquired …|made a purchase;went shopping
sell|got rid of …;parted with …;found a buyer for …|made a sale
adopt|took in …;welcomed … home;became the owner of …|got a new companion;gave an animal a home
lose misplace|could no longer find …;was left without …|had a loss
find discover come across|came across …;located …;turned up …|made a discovery
move relocate|relocated;changed address;settled in a new home|changed homes
live|resided;made a home|
travel fly drive|took a trip;journeyed|went on a journey
visit|went to see …;dropped by …;spent time at …|paid a visit
go|headed out;made the trip|went out
go attend join|took part in …;was present at …;showed up for …|turned up
start begin launch|kicked off …;set … in motion;took up …|made a start
open|set up …;founded …;got … going|opened the doors
stop quit give up|gave up …;put an end to …;dropped …|called it a day
finish complete|wrapped up …;got … done;brought … to an end|reached the end
make create build|put together …;crafted …;produced …|did it by hand
cook bake|prepared …;put … in the oven|worked in the kitchen
paint draw|made … with a brush;did some art|made art
write|put … on paper;penned …;composed …|put pen to paper
read|went through …;got into …|had a good read
watch see|had a look at …;viewed …;caught …|sat in front of a screen
listen|heard …|put music on
play|had a game of …;took part in …|had fun
practice practise train|worked on …;rehearsed …|put in practice
win|came first in …;took the prize in …;was victorious in …|took home a victory
lose|was beaten in …;came second in …|suffered a defeat
run jog|went for a jog;did a race;went running|got some exercise
walk hike|went for a walk;took a hike;went on foot|spent time outdoors
swim|went into the water;did laps|
camp|slept outdoors;went on a trip in the wild|spent nights in a tent
work|had a job;was employed|did paid work
apply|put in an application;sent off papers for …|asked for a place
get accept|was admitted;received …|got the good news
hire|gave … a job;took … on|filled a position
fire|let … go;dismissed …|cut a job
resign retire|left work for good;stepped down|ended a career
promote|moved up in rank;got a better position|advanced at work
graduate|got a degree;finished school;completed studies|earned a diploma
study learn|took lessons in …;picked up …;was taught …|went to class
teach|gave lessons in …;instructed …|led a class
pass|got through …;made it through …|succeeded in a test
fail|did not get through …;came up short in …|was unsuccessful
marry|tied the knot;became husband and wife|had a wedding
engage propose|asked for a hand in marriage;agreed to wed|became engaged
divorce|ended a marriage;separated from a spouse|split up
bear|came into the world;was delivered|a birth took place
die pass away|was lost;came to the end of life|there was a death
sprain break hurt injure|injured …;damaged …|had an accident
heal recover|got better;regained health|was well again
see|met with …;had an appointment with …;went to …|had a visit
call ring phone|got on the phone with …;gave … a ring;spoke to … by telephone|made a phone call
message text email|wrote to …;sent a note to …;dropped a line to …|sent a message
send|mailed …;shipped …;passed … on|posted it
receive get|was given …;got hold of …|had something delivered
give|handed over …;presented …|made a gift
help|gave a hand to …;assisted …;supported …|lent a hand
volunteer|helped out without pay;gave time to a cause|did charity work
raise|collected …;brought in …|held a fundraiser
donate|gave away …;contributed …|gave to charity
organize organise host hold|arranged …;put on …;ran …|planned an occasion
plan|had … in mind;intended …|made arrangements
invite|asked … over;sent for …|had company
meet|got together with …;ran into …;was introduced to …|got acquainted
talk speak chat|had a conversation with …;had words with …|had a talk
tell|let … know;informed …|passed on the news
recommend suggest|advised …;proposed …;put forward …|gave advice
book reserve|made a reservation for …;arranged …|secured a place
cancel|called off …;scrapped …|backed out
sign|put a name to …;agreed to …|made it official
sign up register enrol enroll|enlisted for …;put a name down for …|joined up
file submit|handed in …;turned in …;sent off …|delivered papers
fix repair patch|mended …;put … right;solved …|did a repair
break down crash|stopped working;gave out|had a breakdown
change switch|swapped …;went over to something other than …|made a switch
upgrade update|brought … up to date;moved to a newer version of …|installed something new
deploy release ship|rolled out …;put … into production|went live
revert|rolled back …;undid …|took it back
merge|combined …;brought … together|
restart|rebooted …;brought … up again|
test run|tried out …;executed …|ran a trial
expire end|ran out;was no longer valid|came to an end
clean wash|tidied …;scrubbed …|did chores
renew|extended …;brought … up to date|
borrow rent|had … on loan;leased …|
park leave|set off from …;walked away from …|went away
arrive land|got to …;reached …|came in
return come back|went back to …;got home from …|was back
burn|overcooked …;scorched …|had a mishap in the kitchen
fall|tumbled;went down|had a fall
grow plant|cultivated …;put … in the ground|did some gardening
sing perform|gave a show;was on stage|entertained people
celebrate|marked …;had festivities for …|had a party
chew eat|bit into …;had … to eat|had a meal
drink|had … to drink;sipped …|had a drink
wait|stood by;held on|
push|uploaded …;sent up …|
open|created …;filed …|
double raise increase|made … go up;pushed … higher|went up
quit|gave up …;stopped …;kicked the habit of …|broke a habit
have|experienced …;went through …;there was …|
take|went for …;made use of …|
do|carried out …;took care of …|got it done
happen|took place;came about;occurred|went on
share show|let others see …;passed on …|told others
check out try try out|gave … a go;had a look at …;tested …|tried it
add|put in …;included …|made an addition
hear|was told about …;got word of …|got the news
explore|looked around …;discovered …|went exploring
participate|took part in …;was involved in …|joined in
set up|arranged …;prepared …;established …|got it ready
focus|concentrated on …;paid attention to …|put the mind to it
come|turned up;showed up;was there|made an appearance
bring|carried … along;came with …|
look|searched for …;was after …|went searching
catch up|exchanged news;got the latest|had a talk
relax rest|took it easy;unwound|had a break
talk|had a conversation;exchanged words|
notice|became aware of …;spotted …|
hit|struck …;reached …|
put in|invested …;contributed …|
support|stood by …;backed …|was there for others
bury|laid … to rest|
save|kept … safe;stored …|
record|kept a note of …;wrote down …|made a note
hand in|turned in …;gave notice of …|delivered it
double|made … twice as big;increased …|went up
wait|stood by;held on;was in line|
""".strip()

# what it is | words for it
_NOUNS = """
a pet|dog puppy pup cat kitten rabbit hamster parrot turtle greyhound guinea goldfish poodle retriever bunny
an animal|horse cow goose bird duck chicken goat sheep pig fish snake
a vehicle|car bike bicycle truck van scooter motorcycle motorbike bus tram train boat jeep prius tesla
a place to live|flat apartment house condo home studio room cottage villa loft
a piece of furniture|couch sofa table chair desk bed shelf wardrobe lamp
a fitness tracker|fitbit garmin whoop
a wearable|watch smartwatch ring
a device|phone iphone laptop computer tablet ipad camera printer monitor kindle console playstation xbox macbook
a garment|dress shirt jacket coat hoodie sweater jeans trousers skirt suit hat scarf t-shirt
footwear|shoe shoes boot boots sneaker sneakers trainers sandals
something to wear|sunglasses glasses necklace earrings bracelet jewelry jewellery
something to eat|cake pizza bread curry soup cookies pie pasta sandwich salad burger sushi lunch dinner breakfast meal
groceries|milk eggs cheese butter rice vegetables fruit flour
something to drink|coffee tea espresso beer wine juice rooibos water
a musical instrument|guitar piano violin drum drums cello flute ukulele clarinet trumpet saxophone keyboard
a live performance|concert gig show play musical recital opera ballet
a movie|film nosferatu titanic series documentary
something to read|book novel magazine comic article paper
a work of art|painting drawing sculpture portrait mural sketch pottery bowl pot figurine
a competition|race marathon tournament match contest game championship run triathlon competition league
an exam|test quiz finals midterm exam
a course of lessons|class course workshop lesson lessons seminar training bootcamp program degree
an educational institution|school college university academy kindergarten
a workplace|job company office firm studio startup internship position role
a health professional|doctor dentist therapist nurse surgeon physio psychologist vet dr
a medical matter|surgery operation checkup appointment scan prescription exercises medication vaccine
a limb|ankle wrist arm leg knee foot hand shoulder elbow finger toe
a social occasion|party wedding birthday barbecue picnic reunion celebration dinner festival parade housewarming
time off|vacation holiday trip getaway retreat cruise weekend break honeymoon
the outdoors|park hill beach mountain forest lake trail hike camping woods
a cultural place|museum gallery theater theatre cinema library exhibition
a business|store shop cafe café restaurant bakery bar boutique bookshop
a charity event|fundraiser charity drive shelter
relatives|parents family mother father mom mum dad sister brother daughter son aunt uncle cousin grandmother grandfather
a friend|friend friends buddy roommate neighbor neighbour colleague
official papers|passport visa license licence taxes lease contract permit form application
money matters|rent loan mortgage bill salary budget rate fee ticket
a sport|tennis football soccer basketball yoga climbing surfing hockey swimming running volleyball golf boxing
a plant|tree flower flowers rose tomatoes herbs seeds garden
software|app website script api library framework database redis cache server
a code change|migration commit branch patch refactor feature release version bug fix pull
a document|report proposal essay letter manuscript screenplay script slides outline notes thesis
a place to exercise|gym pool
a defect|leak crash error issue outage bug failure
pictures|photo photos picture pictures album selfie
""".strip()


_PARTICLES = vocabulary(
    """
    up down away across back out off in on over through into together along asleep apart by after forward birth
    started married home rid well wrong part care cold behind it
    """
)


def _verbs() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Of each verb its other words and the phrases that stand alone; a verb of two lines has the words of both."""
    table: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for line in _VERBS.splitlines():
        names, others, phrases = [*line.split("|"), "", ""][:3]
        entry = (_several(others), _several(phrases))
        for name in _names(names):
            known = table.get(name, ((), ()))
            table[name] = (_once(known[0], entry[0]), _once(known[1], entry[1]))
    return table


def _several(text: str) -> tuple[str, ...]:
    return tuple(one for one in text.split(";") if one)


def _once(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _names(text: str) -> list[str]:
    """Verbs of a line; a particle belongs to the verb before it."""
    found: list[str] = []
    for word in text.split():
        if word in _PARTICLES and found:
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def _kinds() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in _NOUNS.splitlines():
        kind, words = line.split("|")
        for word in words.split():
            table.setdefault(word, kind)
    return table


VERBS = _verbs()
KINDS = _kinds()
