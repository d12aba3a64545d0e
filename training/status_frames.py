"""Sentence frames for each status, lead-ins, trailing remarks, small talk and names for `statuses.py`.

A slot names an action and a form: `{state}` base, `{state_i}` with I, `{state_he}` with he or she, `{state_past}`,
`{state_done}` participle, `{state_ing}`, `{state_not}` "don't live in …", `{state_not_he}`; likewise `begin` and `end`.
A `2` at the end (`{state_i2}`) is the same with the second value. `{past}`, `{future}`, `{tom}`, `{he}`, `{his}` are as
in `status_relations.py`. A frame is used only for relations that have its actions.
"""

from __future__ import annotations

from status_relations import lines, listed

# First person. The part before a dot is the status; the part after it says which questions it answers.
FRAMES: dict[str, tuple[str, ...]] = {
    "true": lines("""
        I {state_i}
        I {state_i}, if that matters
        as you know, I {state_i}
        yes, I {state_i}
        I still {state_i}, nothing's changed there
        I do {state}, as it happens
        it's true, I {state_i}
        in case you're wondering: I {state_i}
        I {begin_past} {past}
        I {begin_past} {past} and it was the right call
        {past} I {begin_past}
        I've just {begin_done}
        I finally {begin_past} {past}
        so I {begin_past}, {past} it was
        I can confirm that I {begin_past} {past}
        well I {state_i}, so there's that
        the thing is that I {state_i}, so I do know a bit about it
        for what it's worth, I {begin_past} {past}
        not that anybody asked, but I {state_i}
        I didn't tell you yet: I {begin_past} {past}
        {past}, after a lot of back and forth, I {begin_past}
        since I {state_i}, I get asked about that a lot
        I won't deny it, I {state_i}
        """),
    "denied": lines("""
        I {state_not}
        no, I {state_not}
        actually I {state_not}
        I {state_not} and I never have
        I have never {state_done}
        contrary to what you may have heard, I {state_not}
        I don't know who told you that I {state_i}, it's not true
        it isn't true that I {state_i}
        people keep thinking that I {state_i}, but no
        I never {begin_past}
        I didn't {begin}
        I haven't {begin_done}, whatever they told you
        at no point did I {begin}
        you must be mixing me up with someone, I {state_not}
        not once in all these years have I {state_done}
        I wouldn't say that I {state_i}, because I don't
        there's no truth in the story that I {begin_past}
        me? no, I {state_not}, never did
        nobody can say that I {begin_past}, because I didn't
        the idea that I {begin_past} is simply wrong
        """),
    "denied.end": lines("""
        I didn't {end}, who says that?
        I haven't {end_done}, not at all
        it isn't true that I {end_past}
        no, I never {end_past}
        """),
    "supposed": lines("""
        if I {state_past}, things would be different
        if I {state_past} I'd tell you first
        suppose I {state_past}, what then?
        I'm not sure whether to {begin}
        I might {begin}, I haven't made up my mind
        maybe I'll {begin} one of these days
        what if I {begin_past}?
        perhaps I should {begin}
        should I {begin}?
        I can't decide if I should {begin}
        if all goes well I could {begin}, but don't count on it
        do you {state}?
        have you ever {state_done}?
        did you {begin}?
        would you {begin} if you were me?
        let's say I {begin_past}, would you visit?
        hypothetically, if I {begin_past}, who would mind?
        I'd {begin} if it weren't for the money
        unless something changes I may {begin}, it's far from certain
        ask me again in a year whether I {state_i}
        had I {begin_done}, I'd be a different person
        it's possible that I'll {begin}, it's possible that I won't
        """),
    "supposed.wish": lines("""
        I wish I {state_past}
        I would love to {begin}, one can dream
        I'd like to {begin} at some point
        part of me wants to {begin}
        my dream is to {begin}, but it'll stay a dream
        if only I {state_past}
        sometimes I daydream about {begin_ing}
        """),
    "supposed.think": lines("""
        I'm thinking about {begin_ing}, nothing's decided
        I've been toying with the idea of {begin_ing}
        I'm considering {begin_ing}
        lately I've been wondering about {begin_ing}
        """),
    "supposed.end": lines("""
        I'm wondering if I should {end}
        some days I'd like to {end}
        if it gets any worse I'd {end}
        I might {end}, we'll see
        what would happen if I {end_past}?
        """),
    "planned": lines("""
        I'm going to {begin} {future}
        {future} I'm {begin_ing}
        it's decided: I'll {begin} {future}
        I'm {begin_ing} {future}, it's all arranged
        I've made up my mind to {begin} {future}
        I'll {begin} {future}, promise
        the plan is to {begin} {future}
        I'm all set to {begin} {future}
        {future} is when I {begin}
        I intend to {begin} {future}
        {future} I will finally {begin}
        everything is signed, I {begin} {future}
        not yet, but {future} I'll {begin}
        I haven't yet, I'm {begin_ing} {future} though
        I've decided to {begin} {future}, tell no one
        I'm due to {begin} {future}
        """),
    "planned.end": lines("""
        I'm going to {end} {future}
        it's decided, I {end} {future}
        I've made up my mind: I'll {end} {future}
        {future} I'm {end_ing}, it's final
        """),
    "ended": lines("""
        I used to {state}
        I used to {state}, that was a while ago
        I no longer {state}
        I don't {state} any more
        I {state_past} until {past}
        I {end_past} {past}
        I've {end_done}
        {past} I {end_past}
        I {end_past} {past}, and I feel lighter
        I {state_past} for years, but that's over
        there was a time when I {state_past}
        I finally {end_past} {past}
        as of {past} I no longer {state}
        not any more, I {end_past} {past}
        I did {state} once, before everything changed
        I'd been {state_ing} for ages, then {past} I {end_past}
        so yeah, I {end_past} {past}
        it's been a while since I {state_past}
        had to {end} {past}, sadly
        my days of {state_ing} are over
        I {state_past} back then
        {past} was the end of it, I {end_past}
        """),
    "reported": lines("""
        {tom} says {he} {state_he}
        {tom} {state_he}
        apparently {tom} {state_he} now
        {tom} told me {he} {state_he}
        according to {tom}, {he} {state_he}
        I heard that {tom} {begin_past} {past}
        {tom} {begin_past} {past}
        rumour has it that {tom} {begin_past}
        guess what, {tom} {begin_past}
        did I tell you that {tom} {state_he}?
        {tom}, of all people, {begin_past} {past}
        I was talking to {tom}, {he} {state_he} now
        {tom} swears {he} {state_he}, I have my doubts
        {tom} wrote that {he} {begin_past} {past}
        {tom} mentioned that {he} {begin_past}
        {tom}'s news: {he} {begin_past} {past}
        someone said {tom} {state_he}
        the whole family knows by now that {tom} {begin_past}
        """),
    "fiction": lines("""
        I had a dream that I {state_past}
        last night I dreamt I {begin_past}, then the alarm went
        in the book I'm reading, the hero {state_he}
        in the film, she {begin_past} and never looked back
        in the episode we watched, the grandmother {begin_past}
        I'm writing a short story about a man who {state_he}
        we did some improv, I was a duchess who {state_he}
        for the play I pretend that I {state_i}
        just kidding about it all, in the sketch I {begin_past}, that's the punchline
        there's this joke where a duck {begin_past}
        I told the kids a bedtime story in which a bear {begin_past}
        in the video game I {begin_past}, in real life I water plants
        the narrator of the podcast drama {state_he}, it's all made up
        at the murder mystery dinner I was a colonel who {state_he}
        """),
    "fiction.character": lines("""
        in the game my character {state_he}
        my character {begin_past} in last night's session
        in our campaign my character {state_he} and talks to crows
        my D&D character {state_he}, I love playing that
        in the new season of the role play my character {begin_past}
        """),
}

# Somebody else, said straight out: it holds of that person when the question is about them, and is `reported` when
# the question is about the speaker.
FRAMES_OTHER: dict[str, tuple[str, ...]] = {
    "true": lines("""
        {tom} {state_he}
        {tom} {state_he}, as you know
        {tom} {begin_past} {past}
        {tom} {state_he}, that's how we met
        {past} {tom} {begin_past}
        did you know? {tom} {state_he}
        """),
    "denied": lines("""
        {tom} {state_not_he}
        {tom} {state_not_he}, I asked {him}
        {tom} never {begin_past}
        {tom} has never {state_done}
        {tom} didn't {begin} after all
        """),
    "supposed": lines("""
        {tom} might {begin}, {he} isn't sure
        if {tom} {state_past}, {he}'d tell us
        maybe {tom} will {begin}, who knows
        {tom} is wondering whether to {begin}
        {tom} would {begin} if {he} could
        """),
    "planned": lines("""
        {tom} is going to {begin} {future}
        {tom} is {begin_ing} {future}
        {future} {tom} will {begin}
        {tom} has decided to {begin} {future}
        """),
    "ended": lines("""
        {tom} used to {state}
        {tom} no longer {state_he}
        {tom} {end_past} {past}
        {tom} {state_past} until {past}
        {tom} has {end_done}
        """),
}

# Two statuses in one turn: the question decides. The first name is the status of the first value, the second that of
# the second value ("2").
FRAMES_TWO: dict[tuple[str, str], tuple[str, ...]] = {
    ("ended", "true"): lines("""
        I used to {state}, now I {state_i2}
        I {end_past} {past} and these days I {state_i2}
        I {state_past} until {past}, since then I {state_i2}
        I no longer {state}, I {state_i2} now
        I {state_past} for years, but at the moment I {state_i2}
        after I {end_past}, I {begin_past2}
        I {state_i2}, though before that I {state_past}
        I {state_i2} now. I {end_past} {past}
        I {begin_past2} after years in which I {state_past}
        """),
    ("true", "planned"): lines("""
        I {state_i}, but {future} I'm going to {begin2}
        right now I {state_i}. {future} I'll {begin2}
        I {state_i} at the moment, I'm {begin_ing2} {future}
        {future} I'm {begin_ing2}, until then I {state_i}
        I {begin_past} {past}, and I'm going to {begin2} {future}
        """),
    ("true", "supposed"): lines("""
        I {state_i}, although I wish I {state_past2}
        I {state_i}. maybe I'll {begin2} one day, maybe not
        I'd love to {begin2}, but for now I {state_i}
        I {state_i}, and if I {state_past2} I'd be happier
        I {begin_past} {past}, now I'm wondering whether to {begin2}
        """),
    ("denied", "true"): lines("""
        I {state_not}, I {state_i2}
        no, I {state_not}, you're thinking of someone else. I {state_i2}
        I never {begin_past}, I {begin_past2}
        it's not that I {state_i}, I {state_i2}
        I {state_i2}. what I don't do is {state}
        """),
    ("true", "reported"): lines("""
        I {state_i}, {tom} {state_he2}
        {tom} says {he} {state_he2}, while I {state_i}
        {tom} {begin_past2} {past}, but I {state_i}
        I {begin_past} and {tom} {begin_past2}
        """),
    ("true", "fiction"): lines("""
        I {state_i}, but in the game my character {state_he2}
        my character {state_he2}, unlike me, I {state_i}
        in our campaign my character {begin_past2}. in real life I {state_i}
        """),
    ("ended", "planned"): lines("""
        I {end_past} {past} and {future} I'll {begin2}
        I no longer {state}, {future} I'm {begin_ing2}
        I {state_past} until {past}. I'm going to {begin2} {future}
        """),
}

# A slip and its correction: only for relations with one value at a time.
FRAMES_CORRECTED = lines("""
    I {state_i}, no wait, I mean {v2}
    I {state_i}... sorry, {v2}, I don't know why I wrote that
    I {state_i} - scratch that, {v2}
    I {state_i}, or rather {v2}, I always mix up the two
    """)

LEAD_INS = lines("""
    oh and
    btw,
    honestly,
    by the way,
    so,
    well,
    anyway,
    look,
    also,
    ok so
    right,
    to be honest,
    funny thing,
    fyi,
    just so you know,
    as I said,
    hm,
    before I forget:
    oh,
    actually,
    to answer your question:
    long story short,
    you know what?
    for the record:
    I should mention that
    haha,
    ugh,
    no wait,
    quick update:
    as a matter of fact,
    """)

TRAILING = lines("""
    , just so you know
    , lol
    , anyway
    , as it happens
    , for the record
    , if you must know
    , by the way
    , haha
    , I think I mentioned it
    , in case it matters
    , you know
    , true story
    , don't laugh
    """)

SMALL_TALK = lines("""
    Hope your week is going well.
    It's been raining since breakfast here.
    Thanks for getting back to me so quickly!
    Sorry for the late reply, my phone was off.
    How was your weekend?
    I can't believe it's already this late in the year.
    The coffee this morning was far too strong.
    Anyway, how are things on your side?
    Traffic was awful again.
    Did you see the sunset yesterday?
    My inbox is a mess.
    I slept like a stone.
    What a day.
    Sounds good to me.
    That made me laugh out loud.
    The internet keeps cutting out, so bear with me.
    I'll keep this short.
    Nice to hear from you!
    You wouldn't believe the queue at the post counter.
    It finally stopped snowing.
    I'm writing this with cold fingers.
    Let me know what you think.
    No rush at all.
    We should catch up properly soon.
    It was lovely to see everyone on Sunday.
    The meeting ran over by an hour.
    Somebody left the lights on all night.
    I agree with what you said earlier.
    Good point about the parking.
    My battery is at three percent.
    The birds are very loud today.
    I had soup for lunch.
    Time flies.
    Hang on, the kettle's boiling.
    Okay, I'm back.
    Did you get my message from yesterday?
    That's a good question.
    Let me think for a second.
    It's quiet in the building today.
    The lift is out of order again.
    I lost my umbrella on the way.
    Thank you for the tip, it really helped.
    Congrats on the good news, by the way!
    I need a nap.
    The wifi password changed, I wrote it on the board.
    The light in here is terrible.
    It smells of fresh paint everywhere.
    Happy Friday!
    Monday mornings, eh?
    Talk to you later!
    Enough about that.
    That's all from me.
    I hope that helps.
    You asked, so here goes.
    I don't want to bore you with details.
    The weather forecast promises sun.
    My neighbour is drilling again.
    The pens have all disappeared from the desk.
    We laughed so much that evening.
    I can send you the photos later.
    The bakery had no bread left.
    It took me ages to find my glasses.
    Remind me to call you about the keys.
    Someone ate the last biscuit.
    My alarm didn't go off.
    The plants look a bit sad.
    I've been staring at this screen for too long.
    The clocks change on Sunday, don't forget.
    Same old, same old.
    Please don't worry about it.
    The playlist you sent is great.
    The window won't close properly.
    Long time no talk!
    Please find my notes below.
    With regard to your question, a short answer.
    As discussed on the phone, I am sending a few lines.
    lol that picture you sent
    omg what a morning
    hey! sorry, was in the shower
    k, one sec
    yep, saw that
    ha, typical
    brb, doorbell
    """)

PAST_TIMES = listed(
    "last March | in 2019 | two years ago | last week | in January | on Monday | a few months ago"
    " | in the spring of 2021"
    " | last summer | three weeks ago | on 4 May | in 2022 | last autumn | around Easter"
    " | in November | yesterday"
    " | the day before yesterday | last year | in July 2023 | ten days ago"
)
# These stand well after "until" and "since" too: "until {past}" must not read "until in 2019".
PAST_POINTS = listed(
    "last March | 2019 | last week | January | Monday | the spring of 2021 | last summer | 4 May"
    " | 2022 | last autumn"
    " | Easter | November | yesterday | last year | July 2023"
)
FUTURE_TIMES = listed(
    "next month | in May | on 3 June | after the summer | on Friday | next spring | in two weeks"
    " | at the end of the year"
    " | on the 12th | in September | next week | tomorrow | after Christmas | in the new year"
    " | on Monday the 9th"
    " | in three months | as soon as term ends | next Tuesday"
)
FUTURE_POINTS = listed(
    "next month | May | 3 June | Friday | next spring | the 12th | September | next week"
    " | tomorrow | Monday the 9th"
    " | next Tuesday | 1 August"
)

WOMEN = listed(
    "Anna | Nora | Mila | Grace | Ines | Zoe | Leila | Ruth | Carla | Freya | Hana | Joanna | Mei"
    " | Olga | Petra"
    " | Rosa | Tess | Vera | Wanda | Yara | Bea | Daphne | Esther | Fatima | Gina | Helen"
    " | Kirsten | Maud | Nadia | Sofia"
)
MEN = listed(
    "Tom | Ben | Ivo | Samir | Luke | Otto | Peter | Raj | Sven | Theo | Umar | Victor | Walt | Arjun | Bruno"
    " | Carlos | Dan | Emil | Finn | George | Hugo | Ian | Jamal | Karl | Leo | Mateo | Nils"
    " | Oscar | Paul | Rob"
)
KIN_WOMEN = listed("my sister | my cousin | my colleague | my friend | my neighbour | my aunt | my flatmate")
KIN_MEN = listed("my brother | my cousin | my colleague | my friend | my neighbour | my uncle | my flatmate")

# What people type, and what they meant.
TYPOS = {
    "don't": "dont",
    "didn't": "didnt",
    "isn't": "isnt",
    "I'm": "Im",
    "really": "realy",
    "because": "becuase",
    "the": "teh",
    "that": "taht",
    "going": "goign",
    "anymore": "anymroe",
    "just": "jsut",
    "finally": "finaly",
    "with": "wiht",
    "until": "untill",
    "decided": "decieded",
    "haven't": "havent",
    "used": "usde",
    "never": "nevr",
    "should": "shoud",
    "would": "woud",
    "never been": "nver been",
    "I've": "Ive",
    "and": "adn",
    "about": "abuot",
    "to": "ot",
}

IRREGULAR = {
    # base: (he, past, participle, -ing)
    "be": ("is", "was", "been", "being"),
    "have": ("has", "had", "had", "having"),
    "do": ("does", "did", "done", "doing"),
    "go": ("goes", "went", "gone", "going"),
    "leave": ("leaves", "left", "left", "leaving"),
    "come": ("comes", "came", "come", "coming"),
    "take": ("takes", "took", "taken", "taking"),
    "quit": ("quits", "quit", "quit", "quitting"),
    "become": ("becomes", "became", "become", "becoming"),
    "get": ("gets", "got", "got", "getting"),
    "break": ("breaks", "broke", "broken", "breaking"),
    "split": ("splits", "split", "split", "splitting"),
    "give": ("gives", "gave", "given", "giving"),
    "keep": ("keeps", "kept", "kept", "keeping"),
    "grow": ("grows", "grew", "grown", "growing"),
    "eat": ("eats", "ate", "eaten", "eating"),
    "drive": ("drives", "drove", "driven", "driving"),
    "buy": ("buys", "bought", "bought", "buying"),
    "sell": ("sells", "sold", "sold", "selling"),
    "speak": ("speaks", "spoke", "spoken", "speaking"),
    "fly": ("flies", "flew", "flown", "flying"),
    "run": ("runs", "ran", "run", "running"),
    "pay": ("pays", "paid", "paid", "paying"),
    "stop": ("stops", "stopped", "stopped", "stopping"),
    "drop": ("drops", "dropped", "dropped", "dropping"),
    "study": ("studies", "studied", "studied", "studying"),
    "travel": ("travels", "travelled", "travelled", "travelling"),
    "enrol": ("enrols", "enrolled", "enrolled", "enrolling"),
    "cancel": ("cancels", "cancelled", "cancelled", "cancelling"),
    "marry": ("marries", "married", "married", "marrying"),
}
