"""Word lists of the rules, each with the reason it exists. Lemmas unless the name says otherwise."""

from __future__ import annotations

from everwhen.ingest.extract.rules.wordlist import vocabulary

ARRANGING = vocabulary(
    """
    sign register book plan apply schedule reserve enrol enroll invite organise organize enter
    """
)
"""What is arranged lies ahead: a time in the object of these verbs is looked for in the future."""

FIRST = frozenset({"i", "me", "myself", "we", "us", "ourselves", "im"})
SECOND = frozenset({"you", "u", "ya", "yourself", "yourselves", "ye"})
THIRD = vocabulary(
    """
    he him she her they them it himself herself themselves itself
    """
)
WH = vocabulary(
    """
    who whom which that what whoever whatever where when why how
    """
)
NOBODY = frozenset({"nobody", "nothing", "none", "no-one", "noone", "neither"})

# A clause with one of these tells a state: it is an event only where it is dated.
STATIVE = vocabulary(
    """
    be have love deserve like hate dislike adore enjoy think know feel want need seem appear sound smell
    taste mean hope wish guess believe remember forget understand appreciate thank agree disagree matter
    cost own contain belong prefer depend suppose sense consist include involve require remain stay
    exist doubt imagine wonder care admire respect trust value mind bet swear say tell ask hear see
    suggest promise recommend keep hold help remind inspire motivate encourage amaze bring make let show
    prove deal relate reflect represent support stand
    """
) - vocabulary(
    """
    tell ask see hear suggest promise recommend help stay keep bring make show support hold
    """
)

# Said of the listener or of oneself as a manner of speaking; no event of anybody's life.
SPEECH = vocabulary(
    """
    say tell ask mention answer reply explain claim admit joke swear announce write report
    """
)
MENTAL = vocabulary(
    """
    think believe guess suppose consider feel know wonder doubt hope wish imagine bet assume figure mean reckon
    expect pretend dream fear
    """
)
UNREAL = vocabulary(
    """
    wish imagine suppose pretend dream doubt assume bet wonder
    """
)

# "want to X": the event is X, and it lies ahead.
AHEAD = vocabulary(
    """
    want plan hope intend need aim wish expect prepare agree promise decide choose arrange prefer mean
    look like love think dream consider
    """
)
# "tried to X", "managed to X": one event, told by both verbs.
PHASES = vocabulary(
    """
    start begin stop finish quit continue keep resume try attempt manage learn help get come go give
    practice practise enjoy avoid
    """
)
FAILED = frozenset(["fail", "forget", "refuse", "decline", "neglect", "omit"])

HYPOTHETICAL = vocabulary(
    """
    would 'd could can might may should must ought d
    """
)
FUTURE = frozenset({"will", "'ll", "shall", "wo", "ll", "gon"})
DENIAL = vocabulary(
    """
    never not n't nt hardly barely rarely neither nor
    """
)
CONDITION = frozenset({"if", "unless", "whether", "though", "otherwise", "lest"})

# "had an audition": what one has is what happened.
OCCASIONS = vocabulary(
    """
    appointment audition baby barbecue bbq birthday breakfast brunch call celebration ceremony chat
    class concert conference contest conversation convention course crash date debate dinner discussion
    event exam exhibition fair fall festival fight flight game gathering gig graduation holiday hike
    interview job lesson lunch marathon match meal meeting meetup operation outing party performance
    picnic playdate practice race recital reception rehearsal retreat reunion row run screening seminar
    session shift show sleepover surgery talk test tour tournament trip vacation visit walk wedding
    workout workshop accident argument checkup scan treatment vaccination haircut dentist doctor therapy
    yoga training deadline delivery release launch demo standup
    """
)

# "do this", "make it", "get a lot": nothing that could be told again.
STOCK_PHRASES = frozenset(
    {("cross", "finger"), ("have", "idea"), ("make", "it"), ("take", "care"), ("hang", "there")}
)
LIGHT = vocabulary(
    """
    do make get have take put give keep go bring kill
    """
)
VAGUE = vocabulary(
    """
    it this that so much lot lots ton tons bit things thing stuff everything something anything nothing
    all more myself yourself themselves difference splash way point sense
    """
)

# Openers and phrases that turn a sentence round: what follows is not meant.
IRONY = (
    r"\byeah,? right\b",
    r"\bas if\b",
    r"(?:^|[^\w])/s\b",
    r"\boh,? (?:great|joy|wonderful|fantastic|goody|sure)\b",
    r"\b(?:yeah|oh)?,? ?sure,.*\b(?:totally|obviously|clearly|definitely|absolutely)\b",
    r"\bbecause\b.*\bSO\b",
    r"\bjust LOVE\b",
    r"\bsaid no ?one ever\b",
    r"\bin your dreams\b",
    r"\bthanks a lot,? (?:genius|einstein)\b",
    r"\bmust be nice\b",
    r"\bwhat could (?:possibly )?go wrong\b",
)
EYE_ROLL = "🙄"

# Sentences that open like this are manners, not events.
MANNERS = vocabulary(
    """
    thanks thank thx congrats congratulations hi hello hey bye goodbye cheers welcome sorry please good
    nice great awesome wow cool happy merry
    """
)

PEOPLE = {
    "she": vocabulary(
        """
    mother mom mum mama mommy sister daughter wife girlfriend aunt grandmother grandma nana granny niece
    woman girl lady queen bride waitress actress mother-in-law sister-in-law daughter-in-law stepmother
    stepsister gran fiancée fiancee goddaughter
    """
    ),
    "he": vocabulary(
        """
    father dad papa daddy brother son husband boyfriend uncle grandfather grandpa granddad nephew man
    boy guy king groom waiter father-in-law brother-in-law son-in-law stepfather stepbrother fiancé
    fiance godson dude
    """
    ),
    "any": vocabulary(
        """
    friend cousin colleague coworker boss manager neighbor neighbour roommate flatmate partner teacher
    doctor coach therapist student kid child baby parent landlord nurse dentist trainer mentor professor
    client teammate assistant driver lawyer vet dr friend's pup puppy dog cat kitten
    """
    ),
}
PERSON_WORDS = PEOPLE["she"] | PEOPLE["he"] | PEOPLE["any"]
