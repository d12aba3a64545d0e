"""The relations of life and work that `statuses.py` tells about: values, questions, and sentences for each status.

Slots in sentences: `{v}` the value ("a dog"), `{bare}` without its article ("dog"), `{the}` with a definite one
("the dog"), `{past}` and `{future}` a time, `{tom}` somebody else by name, `{he}` `{his}` `{him}` that person's
pronouns. In questions `[you]`, `[your]`, `[do]`, `[are]`, `[have]` and `[were]` agree with whoever is asked about.
The actions (`state`, `begin`, `end`) start with a verb in its base form and are conjugated by `statuses.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Relation:
    """One thing that can hold of a person, and how people say and ask it.

    `state` is what holds ("live in {v}"), `begin` how it starts ("move to {v}"), `end` how it stops; an event has
    only `begin`. `exclusive`: one value at a time, so that another value answers a yes/no question with no.
    `begin_holds`: having begun means that it holds (who started learning Greek does not speak it yet). `lasting`: not
    asked with "currently" or "still". `alike`: relations whose questions this one's sentences might answer too.
    """

    name: str
    values: tuple[str, ...]
    state: tuple[str, ...] = ()
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    ask_any: tuple[str, ...] = ()
    ask_before: tuple[str, ...] = ()
    ask_plan: tuple[str, ...] = ()
    ask_wish: tuple[str, ...] = ()
    exclusive: bool = False
    begin_holds: bool = True
    lasting: bool = False
    alike: tuple[str, ...] = ()
    said: dict[str, tuple[str, ...]] = field(default_factory=dict)


def lines(text: str) -> tuple[str, ...]:
    """The non-empty lines of a block."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def listed(text: str) -> tuple[str, ...]:
    """What stands between the bars."""
    return tuple(part.strip() for part in text.split("|") if part.strip())


def relation(
    name: str,
    values: str,
    *,
    exclusive: bool = False,
    begin_holds: bool = True,
    lasting: bool = False,
    alike: str = "",
    **parts: str,
) -> Relation:
    """A relation out of text blocks: actions and values between bars, questions and sentences one a line."""
    actions = {key: listed(parts.pop(key, "")) for key in ("state", "begin", "end")}
    questions = {key: lines(value) for key, value in parts.items() if key.startswith("ask")}
    said = {key: lines(value) for key, value in parts.items() if not key.startswith("ask")}
    return Relation(
        name,
        listed(values),
        exclusive=exclusive,
        begin_holds=begin_holds,
        lasting=lasting,
        alike=tuple(alike.split()),
        said=said,
        **actions,
        **questions,
    )


CITIES = "Leeds | York | Riga | Porto | Ghent | Lyon | Graz | Malmö | Austin | Denver | Cork | Utrecht | Turin | Bergen"
CITIES += (
    " | Lisbon | Halifax | Bristol | Osaka | Tallinn | Valencia | Seattle | Dresden | Wellington | Kraków"
)

RELATIONS: tuple[Relation, ...] = (
    relation(
        "home",
        CITIES,
        exclusive=True,
        alike="origin trip",
        state="live in {v} | be based in {v}",
        begin="move to {v} | settle in {v}",
        end="move away from {v} | leave {v}",
        ask="""
        Where [do] [you] live?
        Where [do] [you] live now?
        Which city [do] [you] live in?
        Where [are] [you] based these days?
        What city is home for [you] at the moment?""",
        ask_before="""
        Where did [you] live before?
        Where did [you] use to live?
        Which city did [you] leave?""",
        ask_plan="""
        Where [are] [you] planning to move?
        Where [are] [you] going to live?
        What city [are] [you] moving to?""",
        ask_wish="""
        Where would [you] like to live?
        What city [do] [you] dream of living in?""",
        true="""
        home is {v} for me
        I've been in {v} since the move, and it suits me
        still the same little flat in {v}, third floor, no lift
        I currently reside in {v}
        we're in {v}, a ten minute walk from the station
        my flat's in {v}, by the way, so I'm rarely awake before the trams are
        we bought a place in {v} {past} and haven't regretted it""",
        denied="""
        {v} isn't home and never was
        I've visited, sure, but I have never had an address in {v}
        my post goes to {v} for some odd reason, though I don't live there
        no, not {v}, I don't live anywhere near it""",
        supposed="""
        if the rents weren't so silly I'd be in {v} by now
        I keep looking at flats in {v}, just looking though
        if I lived in {v} I'd cycle everywhere
        could you see me living in {v}?
        is {v} a nice place to live?
        we may or may not end up in {v}, it depends on the landlord""",
        planned="""
        we signed the lease in {v}, keys {future}
        the removal van is booked, {v} from {future}
        from {future} on my address will be in {v}
        I've handed in my notice on the flat and will be in {v} {future}""",
        ended="""
        I packed up and left {v} {past}
        {v} was home until {past}
        we sold the house in {v} {past}
        we gave up the flat in {v}, too many stairs
        I was in {v} for six years before all this""",
        reported="""
        {tom} just found a flat in {v}, lucky {him}
        half of the team seems to live in {v} now, {tom} included
        {tom} texted to say {he}'s all moved in, in {v}
        they say everybody is moving to {v} nowadays""",
        fiction="""
        in the film she gives up everything and moves to {v}
        my elf ranger lives in a tower in {v}, don't ask
        had a dream where our house stood in {v}, with the sea in the kitchen
        the novel's narrator lives in {v} above a bakery""",
    ),
    relation(
        "origin",
        CITIES,
        exclusive=True,
        alike="home trip",
        lasting=True,
        state="come from {v} | be from {v}",
        ask="""
        Where [are] [you] from?
        Where [do] [you] come from?
        What is [your] home town?
        Where did [you] grow up?""",
        true="""
        born and bred in {v}
        I grew up in {v}, you can hear it when I'm tired
        {v} is where I was born
        my whole childhood was spent in {v}, in the same street
        I'm originally from {v}, if that explains the accent""",
        denied="""
        everybody guesses {v} from the accent but that's not where I'm from
        I was not born in {v}, whatever my passport photo suggests
        nope, didn't grow up in {v}
        no one in my family comes from {v}, me included""",
        supposed="""
        I sometimes wish I'd grown up in {v}, with the sea and all
        if I'd been born in {v} I might be able to swim
        are you from {v}, by any chance?
        would it have been different had I grown up in {v}?""",
        reported="""
        {tom} grew up in {v}, you'd never guess
        {tom} claims {he}'s from {v}, with that accent
        the new guy at work is from {v}
        rumour has it the landlord is from {v}""",
        fiction="""
        my character in the campaign comes from {v}, a fisherman's child
        the detective in that show is from {v} and hates it
        in the play I'm a sailor from {v}, in real life I get seasick
        the hero of the book grew up in {v} during the war""",
    ),
    relation(
        "employer",
        "Siemens | Tesco | Ericsson | the city library | Novartis | a small law firm | Lidl | the post office"
        " | Bosch | the local hospital | Maersk | a startup called Fennel | Deloitte | Ocado | the university"
        " | a bakery on the square | Zalando | the town council",
        exclusive=True,
        alike="role study volunteering",
        state="work for {v} | work at {v}",
        begin="start at {v} | take a job at {v}",
        end="leave {v} | quit my job at {v}",
        ask="""
        Where [do] [you] work?
        Who [do] [you] work for?
        Who is [your] employer?
        What company [do] [you] work for now?""",
        ask_any="""
        [Do] [you] have a job?
        [Are] [you] employed?""",
        ask_before="""
        Where did [you] work before?
        Who did [you] use to work for?
        Which employer did [you] leave?""",
        ask_plan="""
        Where [are] [you] going to work?
        Who will [you] be working for?""",
        ask_wish="""
        Where would [you] like to work?""",
        true="""
        {v} pays my wages, such as they are
        I'm with {v} now, joined {past}
        I got the job at {v} {past} and the people are lovely
        my badge says {v} and my back says sit down
        employed by {v}, permanent contract""",
        denied="""
        I turned down the offer from {v}
        {v} didn't hire me in the end
        no, I'm not on the payroll at {v}, I only freelance next door
        I have nothing to do with {v}, people mix that up""",
        supposed="""
        I've applied to {v}, no answer yet
        if {v} called tomorrow I'd say yes before they finished
        would {v} be a good employer, do you think?
        the interview at {v} went okay, could go either way
        I'd give a lot to get into {v}""",
        planned="""
        signed the contract yesterday: {v}, first day {future}
        my new job at {v} begins {future}
        I'm joining {v} {future}, can't wait
        {future} is my first day at {v}""",
        ended="""
        {v} let me go {past}
        I handed in my badge at {v} {past}
        they laid us all off at {v}
        my contract with {v} ran out {past}
        I retired from {v}, thirty years were enough""",
        reported="""
        {tom} got hired by {v}, good for {him}
        {tom} tells everyone {he} works for {v}
        apparently {tom} is at {v} now
        {tom}'s been with {v} for ages""",
        fiction="""
        in the sitcom they all work for {v} and nobody ever does anything
        I dreamt I was working at {v} and had forgotten my trousers
        in the game you start out as a clerk at {v}
        the murderer in the book turns out to work at {v}""",
    ),
    relation(
        "role",
        "a nurse | a plumber | a product manager | a teacher | an accountant | a data analyst"
        " | a chef | a team lead"
        " | an electrician | a paralegal | a translator | a bus driver | a vet | a sound engineer"
        " | a midwife | a baker",
        exclusive=True,
        alike="employer study",
        state="work as {v} | be {v}",
        begin="start working as {v} | become {v}",
        end="stop working as {v}",
        ask="""
        What [do] [you] do for a living?
        What is [your] job?
        What [do] [you] work as?
        What is [your] profession?""",
        ask_before="""
        What did [you] use to do for a living?
        What was [your] previous job?""",
        ask_plan="""
        What [are] [you] going to work as?
        What job will [you] have next?""",
        ask_wish="""
        What would [you] like to be?
        What job [do] [you] dream of?""",
        true="""
        I'm {v} by trade, so I notice these things
        as {v} I get up at five, which explains my mood
        ten years as {v} and I still love it
        they made me {v} {past}, pay rise included
        speaking as {v}: please don't do that""",
        denied="""
        I'm no {bare}, I only pretend to know this stuff
        people take me for {v} but I'm not one
        I never qualified as {v}
        being {v} isn't what I do, that's just what the website says""",
        supposed="""
        I could have been {v}, my mum says so anyway
        if I were {v} I'd charge double
        maybe it's not too late to become {v}?
        some days I think I should have become {v}
        they might make me {v}, nothing's certain""",
        planned="""
        new job, signed and sealed: {v} from {future}
        I've signed up for the training and will be {v} {future}
        it's official, they'll make me {v} {future}
        I start as {v} {future}""",
        ended="""
        I was {v} before my knees gave out
        I hung up my uniform {past}, no more life as {v} for me
        I gave up being {v} {past}
        back when I was {v} I could do this blindfolded""",
        reported="""
        {tom} is {v}, ask {him}
        {tom} says {he}'s {v} now
        my sister-in-law is {v}, apparently that pays well
        word is that {tom} became {v}""",
        fiction="""
        in our role play I'm {v} with a dark secret
        the lead in the series is {v} by day and a thief by night
        I dreamed I was {v} and everyone clapped
        my sim just became {v}, so proud""",
    ),
    relation(
        "manager",
        "Priya | Mr Olsen | Hannah | Dimitri | Ms Okafor | Gareth | Yuki | Dr Brandt | Lucia"
        " | Femi | Ingrid | Pavel",
        exclusive=True,
        state="report to {v} | have {v} as my boss",
        begin="start reporting to {v}",
        end="stop reporting to {v}",
        ask="""
        Who is [your] manager?
        Who is [your] boss?
        Who [do] [you] report to?
        Who manages [you] now?""",
        ask_before="""
        Who was [your] previous manager?
        Who did [you] report to before?""",
        ask_plan="""
        Who will be [your] next manager?
        Who [are] [you] going to report to?""",
        ask_wish="""
        Who would [you] like as a manager?""",
        true="""
        my boss is {v}, has been since {past}
        {v} signs off my holidays
        {v} is my manager and reads every mail twice
        {v} took over our team {past} and it shows
        my line manager, {v}, wants a status by noon""",
        denied="""
        {v} isn't my boss, we just share an office
        I don't answer to {v}, thank heavens
        {v} has never managed me
        nobody on my floor reports to {v}, least of all me""",
        supposed="""
        if {v} were my manager I'd get things done
        maybe they'll put me under {v}, nobody knows
        what if {v} became our manager?
        is {v} your manager?
        I'd be happier with {v} as a boss, I think""",
        planned="""
        {v} becomes my manager {future}
        from {future} I'll be under {v}
        the reorg is decided: my boss will be {v} as of {future}
        they announced it, {v} takes over our team {future}""",
        ended="""
        {v} was my boss until {past}
        {v} left the team {past}, so no longer my manager
        since {past} I don't answer to {v} any more
        {v} managed me for years, that chapter is closed""",
        reported="""
        {tom} works under {v} and moans a lot
        {tom} told me {v} is {his} manager now
        I hear {v} runs {tom}'s team
        {tom}'s boss is {v}, poor soul""",
        fiction="""
        in the office comedy the boss is called {v} and steals staplers
        I dreamt {v} was my manager and made me iron the printer
        in the game my guild boss is {v}, an orc
        in the script I'm writing, {v} is the tyrant boss""",
    ),
    relation(
        "partner",
        "Elena | Marco | Sanne | Oliver | Ravi | Chloe | Stefan | Amina | Jonas | Beatriz | Kenji | Moira",
        exclusive=True,
        alike="wedding",
        state="go out with {v} | be together with {v}",
        begin="get together with {v}",
        end="break up with {v} | split up with {v}",
        ask="""
        Who is [your] partner?
        Who [are] [you] dating?
        Who [are] [you] together with?
        What is the name of [your] partner?""",
        ask_any="""
        [Are] [you] in a relationship?
        [Do] [you] have a partner?""",
        ask_before="""
        Who did [you] date before?
        Who did [you] break up with?
        Who is [your] ex?""",
        ask_wish="""
        Who would [you] like to go out with?""",
        true="""
        {v} and I are a couple, have been since {past}
        my partner {v} is a terrible driver
        {v} moved in with me, best flatmate ever
        {v}, my other half, says hi
        I'm seeing {v}, and yes, it's serious""",
        denied="""
        {v} and I are not an item, we only share a car
        no no, {v} is just a friend
        there's nothing between {v} and me
        I never dated {v}, who says that?""",
        supposed="""
        I wish {v} would ask me out
        do you think {v} likes me?
        if {v} and I were together my mum would throw a party
        maybe something will happen with {v}, maybe not""",
        ended="""
        {v} and I broke up {past}
        it's over with {v}
        {v} left me {past}
        we called it off, {v} and me, no hard feelings
        {v} is my ex now, as of {past}
        I dumped {v} {past}""",
        reported="""
        {tom} is dating {v}, did you know?
        {tom} swears {he} and {v} are a couple
        they say {tom} ran off with {v}
        {tom} got together with {v} at the office party""",
        fiction="""
        in the dating sim I picked {v}
        I dreamt I was married to {v} and we lived in a lighthouse
        in chapter nine she finally kisses {v}
        in our play I'm in love with {v}, on stage only""",
    ),
    relation(
        "children",
        "a son | a daughter | twins | four kids",
        lasting=True,
        state="have {v}",
        ask="""
        What children [do] [you] have?
        How many children [do] [you] have?""",
        ask_any="""
        [Do] [you] have children?
        [Are] [you] a parent?""",
        ask_plan="""
        What [are] [you] expecting?""",
        ask_wish="""
        What children would [you] like to have?""",
        true="""
        we've got {v}, hence the bags under my eyes
        with {v} at home there is no such thing as a lie-in
        I'm raising {v} on my own and coffee
        being a parent of {v} keeps you young, or the opposite""",
        denied="""
        I don't have {v}, that's my brother's lot in the photo
        we never had {v}, it just didn't happen
        the school keeps writing to us although we don't have {v}""",
        supposed="""
        we'd love to have {v} one day, if it works out
        if we had {v} we'd need a bigger car
        is it hard to have {v}?
        suppose we had {v}, where would they sleep?""",
        planned="""
        we're expecting {v}, due {future}
        the scan says {v}, arriving {future}
        adoption papers are through: {v}, moving in {future}""",
        reported="""
        {tom} has {v}, you should hear {him} go on
        {tom} told me {he} has {v} now
        the couple upstairs have {v}, we can hear that
        my cousin just had {v}""",
        fiction="""
        in the film he has {v} and a shotgun
        in The Sims we have {v} and no bathroom
        I dreamt we had {v} and lost them in a supermarket
        the queen in the story has {v} and a curse""",
    ),
    relation(
        "pets",
        "a dog | a cat | a rabbit | a parrot | a tortoise | a hamster | a pony | an iguana | a guinea pig"
        " | a goldfish | a ferret | a canary | a chinchilla",
        state="have {v} | keep {v}",
        begin="get {v} | adopt {v}",
        end="give {the} away | rehome {the}",
        ask="""
        What pet [do] [you] have?
        What kind of animal [do] [you] keep?
        Which pet lives with [you]?""",
        ask_any="""
        [Do] [you] have any pets?
        [Do] [you] own an animal?""",
        ask_before="""
        What pet did [you] use to have?
        What animal did [you] keep in the past?""",
        ask_plan="""
        What pet [are] [you] going to get?
        What animal [are] [you] planning to adopt?""",
        ask_wish="""
        What pet would [you] like?
        What animal [do] [you] wish for?""",
        true="""
        my {bare} just threw up on the rug, so that's my morning
        we picked up {v} from the shelter {past}
        I share the sofa with {v} that snores
        can't stay long, {the} needs feeding
        {v} moved in with us {past} and rules the house
        I'm typing with one hand because {the} is asleep on the other""",
        denied="""
        the landlord won't allow it, so no {bare} for me
        that {bare} in the photo isn't mine
        I haven't got {v}, I only feed the neighbours'
        we've never kept {v}, not even when the kids begged""",
        supposed="""
        the kids want {v}, I'm not convinced
        if I had {v} I'd never be on time
        have you got {v}?
        is {v} a lot of work?
        some day, maybe, {v}
        imagine {v} in this flat""",
        planned="""
        we're getting {v} {future}, the kids know already
        the breeder says we can collect {the} {future}
        {future} {v} is coming to live with us
        deposit paid: {v}, ours from {future}""",
        ended="""
        our {bare} died {past}
        we had to put {the} down {past}
        we found {the} a new home {past}
        {the} ran away {past} and never came back
        I had {v} as a kid, long gone now""",
        reported="""
        {tom} got {v}, it barks or squeaks all day
        {tom} says {he} has {v} now
        the woman downstairs keeps {v}
        {tom}'s family bought {v}, I saw the pictures""",
        fiction="""
        in Stardew I have {v} called Pickle
        the detective's only friend is {v}, in the books I mean
        I dreamt I had {v} that could talk
        in the cartoon they adopt {v} from space""",
    ),
    relation(
        "allergies",
        "peanuts | shellfish | penicillin | cat hair | birch pollen | latex | soy | walnuts"
        " | bee stings | eggs | dust"
        " | sesame | strawberries | ibuprofen",
        lasting=True,
        state="be allergic to {v}",
        begin="become allergic to {v}",
        end="get over my allergy to {v}",
        ask="""
        What [are] [you] allergic to?
        Which allergy [do] [you] have?
        What should [you] avoid because of an allergy?""",
        ask_any="""
        [Do] [you] have any allergies?""",
        ask_before="""
        What [were] [you] allergic to in the past?
        Which allergy did [you] use to have?""",
        true="""
        my throat swells up from {v}
        {v} once put me in A&E, it's the one allergy I have
        the test was clear, it's {v} that I react to
        {v} and I don't mix, the doctor wrote allergy in red
        please note an allergy: {v}""",
        denied="""
        the test came back negative for {v}
        {v}? no problem at all, I can have that
        I can be around {v} all day and nothing happens, no allergy there
        no known reaction to {v} on my file""",
        supposed="""
        I might be allergic to {v}, getting tested
        could it be {v} that gives me the rash?
        the doctor suspects {v}, but we don't know yet
        if I were allergic to {v} I'd have noticed, right?
        anyone here allergic to {v}?""",
        ended="""
        I outgrew my allergy to {v} {past}
        the allergy to {v} is gone since {past}
        as a child I reacted to {v}, these days nothing happens
        after the shots I can finally handle {v}, no reaction any more""",
        reported="""
        {tom} can't have {v}, {he}'s allergic
        {tom} says {he} reacts to {v}
        there's a kid in the class who's allergic to {v}
        mum insists {tom} is allergic to {v}""",
        fiction="""
        the vampire in the show is allergic to {v}, which I found funny
        in the murder mystery the victim was allergic to {v}
        I play a knight who's allergic to {v}
        in my dream a doctor said I was allergic to {v} and also to Tuesdays""",
    ),
    relation(
        "medication",
        "metformin | sertraline | ibuprofen | lisinopril | insulin | iron tablets | thyroxine | a statin"
        " | amoxicillin | beta blockers | melatonin | vitamin D | antihistamines",
        alike="illness allergies",
        state="take {v} | be on {v}",
        begin="start taking {v} | go on {v}",
        end="come off {v} | stop taking {v}",
        ask="""
        What medication [do] [you] take?
        What [are] [you] taking at the moment?
        Which medicine [are] [you] on?""",
        ask_any="""
        [Do] [you] take any medication?""",
        ask_before="""
        What medication did [you] stop taking?
        What did [you] use to take?""",
        ask_plan="""
        What medication [are] [you] going to start?""",
        true="""
        the GP put me on {v} {past}
        {v} every morning with my tea
        I've been prescribed {v}, and so far so good
        my pill box has {v} in it, breakfast and bedtime
        without {v} I wouldn't get through the week""",
        denied="""
        I'm not taking {v}, the doctor saw no need
        they offered me {v} and I said no
        I've managed without {v} all my life
        never touched {v}""",
        supposed="""
        maybe I need {v}, I'll ask at the check-up
        would {v} help, do you reckon?
        if it gets worse they may put me on {v}
        should I be on {v}?""",
        planned="""
        I'm starting {v} {future}
        the prescription is ready, {v} from {future}
        doctor's decision: {v} as of {future}""",
        ended="""
        the doctor took me off {v} {past}
        I quit {v} {past}, side effects
        no more {v} since {past}
        I weaned myself off {v} {past}
        my last box of {v} is empty and I don't need another""",
        reported="""
        {tom} is on {v} and sleeps like a log
        {tom} swears by {v}
        they say {v} works for everyone, I read that somewhere
        {tom}'s doctor gave {him} {v}""",
        fiction="""
        in the hospital drama everyone is on {v}
        my character is addicted to {v}, it's part of the backstory
        I dreamt I had to take {v} out of a teapot
        the spy in the novel swaps his pills for {v}""",
    ),
    relation(
        "diet",
        "vegan | vegetarian | gluten-free | low-carb | dairy-free | pescatarian | sugar-free | keto",
        state="eat {v}",
        begin="go {v}",
        end="stop eating {v} | give up eating {v}",
        ask="""
        What diet [do] [you] follow?
        How [do] [you] eat?
        What kind of diet [are] [you] on?""",
        ask_any="""
        [Do] [you] follow a special diet?""",
        ask_before="""
        What diet did [you] give up?
        How did [you] eat before?""",
        ask_plan="""
        What diet [are] [you] going to start?""",
        ask_wish="""
        How would [you] like to eat?""",
        true="""
        I've been {v} since {past}
        it's all {v} at our house
        my fridge is strictly {v}
        I went {v} {past} and feel great
        {v} for me please, as always""",
        denied="""
        I'm not {v}, I just don't like sausages
        no, I eat everything, nothing {v} about me
        never been {v} in my life
        the {v} meal wasn't for me, I don't eat like that""",
        supposed="""
        I keep thinking I should go {v}
        if I went {v} my gran would cry
        is going {v} expensive?
        maybe {v} would be good for me, dunno
        are you {v}?""",
        planned="""
        {v} from {future}, I promised my doctor
        starting {future} the whole family goes {v}
        I've cleared the cupboards, {v} starts {future}""",
        ended="""
        I lasted a year being {v}, then came the bacon
        I was {v} until {past}
        the {v} thing is over, I cracked {past}
        I dropped the {v} diet {past}""",
        reported="""
        {tom} is {v} now, so mind what you cook
        {tom} says {he} eats {v}
        my daughter's whole class went {v}
        they say {v} is the future""",
        fiction="""
        the dragon in the story is {v}, that's the joke
        my character went {v} after the goblin incident
        in the sketch a butcher goes {v}
        I dreamt I was {v} and lived on grass""",
    ),
    relation(
        "likes",
        "jazz | olives | black coffee | board games | thrillers | sushi | opera | camping"
        " | dark chocolate | puzzles"
        " | horror films | liquorice | long walks | techno | crosswords",
        alike="dislikes hobby",
        state="like {v} | love {v}",
        begin="get into {v}",
        end="go off {v}",
        ask="""
        What [do] [you] like?
        What [are] [you] fond of?
        What [do] [you] enjoy?""",
        ask_before="""
        What did [you] use to like?
        What did [you] go off?""",
        true="""
        can't get enough of {v}
        {v} makes me happy, simple as that
        I have a soft spot for {v}
        give me {v} and I'm content
        I discovered {v} {past} and I'm hooked
        I'm rather partial to {v}""",
        denied="""
        {v} isn't my thing
        I've never seen the point of {v}
        {v} does nothing for me
        can't say I like {v}, honestly""",
        supposed="""
        I'd probably like {v} if I gave it a chance
        do you like {v}?
        maybe I'd like {v}, never tried
        I wish I liked {v}, everyone else seems to""",
        ended="""
        I've had enough of {v}, loved it once
        {v} was my favourite until {past}
        the love for {v} has worn off
        I went right off {v} {past}
        {v} doesn't do it for me any longer""",
        reported="""
        {tom} loves {v}
        {tom} keeps saying {he} likes {v}
        everybody at {tom}'s place is mad about {v}
        they say clever people like {v}""",
        fiction="""
        the villain loves {v}, which makes him human
        my wizard likes {v} and nothing else
        in the book she falls in love with {v} and a lighthouse keeper
        in the cartoon the cat loves {v}""",
    ),
    relation(
        "dislikes",
        "cilantro | loud bars | cold calls | early meetings | mushrooms | reality TV | small talk"
        " | beetroot | spiders"
        " | flying | blue cheese | queueing | karaoke",
        alike="likes hobby",
        state="hate {v} | dislike {v}",
        begin="take a dislike to {v}",
        end="stop hating {v} | get over my hatred of {v}",
        ask="""
        What [do] [you] dislike?
        What [do] [you] hate?
        What can't [you] stand?""",
        ask_before="""
        What did [you] use to hate?""",
        true="""
        can't stand {v}
        {v} drives me up the wall
        please, anything but {v}, I loathe it
        {v} gives me the creeps
        if there's one thing I can't bear it's {v}""",
        denied="""
        I've got nothing against {v}
        {v} doesn't bother me at all
        I never said I hated {v}, I don't
        {v} is fine by me, I don't mind it""",
        supposed="""
        I'd probably hate {v} if I had to do with it every day
        do you hate {v} too?
        would I hate {v}? hard to say
        perhaps I'd hate {v} less with earplugs""",
        ended="""
        I couldn't stand {v} as a kid, now I'm fine with it
        I made my peace with {v} {past}
        I hated {v} until {past}, not any more
        {v} stopped bothering me {past}""",
        reported="""
        {tom} can't stand {v}
        {tom} says {he} hates {v}
        my boss loathes {v}, we all know it
        it's said that cats hate {v}""",
        fiction="""
        in the comic the hero can't stand {v}
        my barbarian hates {v} more than dragons
        the grumpy neighbour in the film hates {v}
        in my dream I shouted at everyone how I hate {v}""",
    ),
    relation(
        "vehicle",
        "a Skoda | a van | an old Volvo | a motorbike | a Tesla | a camper | a cargo bike"
        " | a Fiat Panda | a scooter"
        " | a pickup | a Golf | an e-bike",
        alike="purchase repair commute",
        state="own {v} | have {v}",
        begin="buy {v} | get {v}",
        end="sell {the} | get rid of {the}",
        ask="""
        What [do] [you] drive?
        What vehicle [do] [you] own?
        What [do] [you] have to get around?""",
        ask_any="""
        [Do] [you] own a vehicle?""",
        ask_before="""
        What did [you] use to drive?
        What vehicle did [you] own before?""",
        ask_plan="""
        What vehicle [are] [you] going to buy?""",
        ask_wish="""
        What would [you] like to drive?""",
        true="""
        my {bare} is parked on the pavement again
        we've got {v} outside, if you need a lift
        bought {v} {past}, runs like a dream
        {the} is mine, yes, the dirty one
        I got my hands on {v} {past}""",
        denied="""
        I don't own {v}, I borrow my dad's
        {the} outside isn't mine
        never had {v}, never needed one
        no {bare} for us, we take the tram""",
        supposed="""
        with {v} I could do the shopping in one go
        if I win anything I'm buying {v}
        is {v} worth the money?
        thinking out loud here: {v}?
        wouldn't {v} be fun?""",
        planned="""
        I ordered {v}, delivery {future}
        collecting {the} {future}
        we've put down the deposit on {v}, ours from {future}
        {future} I'm trading up to {v}""",
        ended="""
        I sold {the} {past}
        {the} went to the scrapyard {past}
        we had {v} until somebody stole it {past}
        the lease on {the} ended {past}, we gave it back
        {the} is history, failed its inspection""",
        reported="""
        {tom} drives {v}, loudly
        {tom} claims {he} owns {v}
        the neighbours just got {v}
        someone said {tom} bought {v}""",
        fiction="""
        in GTA I drive {v} into the sea mostly
        the bank robbers in the film escape in {v}
        dreamt I owned {v} made of cheese
        my character owns {v} and two swords""",
    ),
    relation(
        "instrument",
        "a piano | a violin | a banjo | a cello | a drum kit | a ukulele | an accordion"
        " | a saxophone | a trumpet"
        " | a clarinet | a bass guitar | a harp",
        alike="purchase hobby",
        state="play {the}",
        begin="take up {the} | start learning {the}",
        end="give up {the} | stop playing {the}",
        ask="""
        What instrument [do] [you] play?
        Which instrument [do] [you] practise?""",
        ask_any="""
        [Do] [you] play an instrument?""",
        ask_before="""
        What instrument did [you] give up?
        What did [you] use to play?""",
        ask_plan="""
        What instrument [are] [you] going to learn?""",
        ask_wish="""
        What instrument would [you] like to play?""",
        true="""
        there's {v} in my living room and I practise daily
        got {v} for my birthday {past}, the neighbours love me
        {the} is my thing, two rehearsals a week
        my {bare} is in its case by the door, I've got rehearsal tonight""",
        denied="""
        {the} in the hall is only for show, I can't play it
        I never learned {the}
        I don't have {v}, the noise upstairs isn't me
        me and {the}? no, not a note""",
        supposed="""
        I'd love to learn {the}, when I'm retired perhaps
        is {the} hard to learn?
        if I could play {the} I'd join a band
        do you play {the}?""",
        planned="""
        first {bare} lesson is {future}
        I've rented {v}, lessons start {future}
        I signed up for {bare} lessons, from {future}""",
        ended="""
        I haven't touched {the} since {past}, gave it up
        I played {the} at school, not since
        my {bare} days are over
        the lessons stopped {past}, so no {bare} any more""",
        reported="""
        {tom} plays {the} in a band
        {tom} says {he} practises {the} daily
        somebody in the house plays {the}, badly
        {tom}'s mother bought {him} {v}""",
        fiction="""
        my bard plays {the} to charm wolves
        in the film the ghost plays {the} at midnight
        I dreamt I played {the} at the Proms
        the girl in the novel plays {the} on the roof""",
    ),
    relation(
        "membership",
        "the rowing club | a choir | the gym on Mill Lane | a book club | the chess club"
        " | the union | a running group"
        " | the allotment society | the scouts | a climbing gym | the film society | the sailing club",
        alike="hobby volunteering",
        state="belong to {v} | be a member of {v}",
        begin="join {v} | sign up for {v}",
        end="leave {v} | drop out of {v}",
        ask="""
        What club [do] [you] belong to?
        What group [are] [you] a member of?
        Which club [are] [you] in?""",
        ask_any="""
        [Are] [you] a member of any club?""",
        ask_before="""
        What club did [you] leave?
        Which group [were] [you] a member of before?""",
        ask_plan="""
        What club [are] [you] going to join?""",
        ask_wish="""
        What club would [you] like to join?""",
        true="""
        Thursday evenings are taken, that's {v}
        got a place in {v} {past}, so I'm in
        I've been in {v} for donkey's years
        they let me into {v} {past}
        I'm the treasurer of {v}, somebody had to""",
        denied="""
        I'm not in {v}, I only came for the cake
        {v} didn't have a place for me
        I have never joined {v}, despite all the leaflets
        the card isn't mine, I don't belong to {v}""",
        supposed="""
        maybe {v} would get me out of the house
        should I join {v}?
        I'd join {v} if it weren't on Mondays
        is {v} any good?
        I'm on the waiting list for {v}, we'll see""",
        planned="""
        signed the form, I'm in {v} from {future}
        my membership of {v} starts {future}
        I'm joining {v} {future}, form's in the post""",
        ended="""
        I cancelled my membership of {v} {past}
        they threw me out of {v} {past}
        my time in {v} came to an end {past}
        I quit {v}, too much politics
        didn't renew {v} {past}""",
        reported="""
        {tom} joined {v}
        {tom} tells me {he} belongs to {v}
        half the street is in {v}
        I gather {tom} runs {v} now""",
        fiction="""
        in the book they're all members of {v}, and one by one they vanish
        my character gets thrown out of {v} in act two
        in the game you join {v} to level up
        dreamt I was president of {v}""",
    ),
    relation(
        "tool",
        "Figma | Jira | Postgres | Excel | Kubernetes | Notion | Slack | Terraform | SAP | Blender"
        " | Tableau | Vim"
        " | Salesforce | GitLab | Airtable",
        alike="version subscription",
        state="use {v} at work | work with {v}",
        begin="switch to {v} | adopt {v} at work",
        end="drop {v} | move off {v}",
        ask="""
        What tool [do] [you] use at work?
        What software [do] [you] work with?
        Which tool is [your] team on?""",
        ask_before="""
        What tool did [you] use before?
        Which tool did [you] drop?""",
        ask_plan="""
        What tool [are] [you] going to switch to?
        What software [are] [you] planning to use?""",
        ask_wish="""
        What tool would [you] like to use?""",
        true="""
        we run everything through {v}
        our whole team lives in {v}
        {v} is what we standardised on {past}
        I spend eight hours a day in {v}
        it's all in {v}, ask me for access
        rolled out {v} {past}, works fine""",
        denied="""
        we don't touch {v} here, company policy
        {v} isn't installed on any of our machines
        I've never opened {v} at this job
        we looked at {v} and decided against it""",
        supposed="""
        {v} might be a better fit, jury's out
        would {v} scale for us?
        if we were on {v} this would take a minute
        someone suggested {v}, nothing decided
        does your team use {v}?""",
        planned="""
        we're migrating to {v} {future}
        the rollout of {v} is scheduled, {future}
        {v} goes live for our team {future}
        budget approved, {v} from {future}""",
        ended="""
        we ditched {v} {past}
        {v} was switched off {past}
        our {v} licence ran out {past} and we let it
        we phased out {v}, good riddance
        before the migration everything was in {v}""",
        reported="""
        {tom}'s team uses {v}
        {tom} says {he} works with {v}
        I read that everyone is moving to {v}
        according to {tom}, {v} is what they have over there""",
        fiction="""
        in the satire they launch rockets from {v}
        I dreamt that {v} was sending me to my room
        the hacker in the series does it all in {v}, ridiculous
        in the training scenario we're a made-up firm that runs on {v}""",
    ),
    relation(
        "version",
        "Python 3.11 | Python 3.8 | Postgres 15 | Postgres 12 | Node 20 | Ubuntu 22.04 | Java 17"
        " | Windows 11 | Django 4.2"
        " | React 18 | PHP 8.1 | Rails 7 | Debian 12",
        alike="tool",
        state="run {v} | be on {v}",
        begin="upgrade to {v} | move to {v}",
        end="move off {v} | retire {v}",
        ask="""
        What version [do] [you] run?
        Which version [are] [you] on?
        What does [your] stack run on?""",
        ask_before="""
        What version did [you] run before?
        Which version did [you] retire?""",
        ask_plan="""
        What [are] [you] going to upgrade to?
        Which version [are] [you] planning to move to?""",
        true="""
        production is on {v}
        all our boxes run {v} since {past}
        the build is pinned to {v}
        we got onto {v} {past}, no drama
        FYI the cluster is at {v}""",
        denied="""
        nothing of ours runs on {v}
        we skipped {v} altogether
        no, the server isn't on {v}, check again
        {v} never made it into our image""",
        supposed="""
        not sure {v} would even boot here
        if we were on {v} that bug would be gone
        could we try {v} on staging?
        maybe {v}, if the tests pass
        are you on {v}?""",
        planned="""
        the upgrade to {v} is on the calendar for {future}
        {v} lands {future}, the ticket's assigned
        we'll be on {v} {future}
        sign-off came through: {v} in prod {future}""",
        ended="""
        we retired {v} {past}
        the last {v} box was shut down {past}
        {v} is gone from prod as of {past}
        we were stuck on {v} for ages, finally off it""",
        reported="""
        {tom}'s group is on {v}
        {tom} says {he} runs {v} without trouble
        the vendor claims most customers run {v}
        I heard the other office moved to {v}""",
        fiction="""
        in the heist film the vault runs {v}
        the spaceship in the novel still runs {v}, I laughed
        for the exercise, pretend we're a bank that runs {v}
        in my nightmare everything ran {v} again""",
    ),
    relation(
        "deadline",
        "14 March | 3 June | 30 April | 12 October | 5 December | 21 May | 9 July | the end of January | 17 September"
        " | 1 August",
        exclusive=True,
        alike="trip wedding",
        lasting=True,
        state="have until {v} to hand in the report",
        ask="""
        When is [your] report due?
        What is the deadline for [your] report?
        By when [do] [you] have to hand in the report?""",
        ask_before="""
        What was the original deadline for [your] report?""",
        true="""
        my report is due {v}, no excuses
        they want the report from me by {v}
        deadline for my report: {v}
        the report has to be on her desk by {v}, and it's mine to write
        got the date confirmed, my report is due {v}""",
        denied="""
        my report isn't due {v}, that's the slides
        nobody ever asked me for the report by {v}
        {v} is not the deadline for my report, whatever the calendar says""",
        supposed="""
        if they want the report by {v} I'm in trouble
        is the report due {v}?
        could be that my report is due {v}, I'd have to check
        would {v} be okay for the report?""",
        ended="""
        the report was due {v}, then they pushed it back
        {v} was the deadline for the report, it's been lifted
        my old deadline for the report, {v}, no longer applies
        I had until {v} for the report, that's been cancelled""",
        reported="""
        {tom}'s report is due {v}
        {tom} says {his} report is due {v}
        {tom} has to deliver {his} report by {v}
        the other team's deadline is {v}, I'm told""",
        fiction="""
        in the film the journalist must file her report by {v} or lose her job
        I dreamt my report was due {v} and I'd written it in crayon
        in the case study, the fictional analyst has a report due {v}""",
    ),
    relation(
        "rent",
        "900 euros | 1,200 a month | £750 | 640 euros | $1,850 | 480 euros cold | £1,100"
        " | 2,000 a month | 15,000 kronor",
        exclusive=True,
        alike="subscription",
        state="pay {v} for the flat | pay {v} in rent",
        ask="""
        How much rent [do] [you] pay?
        What does [your] flat cost?
        What is [your] rent?""",
        ask_before="""
        How much rent did [you] use to pay?
        What was [your] old rent?""",
        ask_plan="""
        How much rent [are] [you] going to pay?
        What will [your] rent be?""",
        true="""
        rent's {v}, bills on top
        the landlord takes {v} from me
        {v}, that's what the flat sets me back
        our flat comes to {v}, heating included
        they raised it {past}, so the flat is {v} now""",
        denied="""
        it isn't {v} I pay, where did you get that
        nowhere near {v}, my rent's a different story
        I've never paid {v} in rent""",
        supposed="""
        if the flat were {v} I'd take two
        could I even afford {v} in rent?
        they may put the rent up to {v}, it's just a rumour so far
        would you pay {v} for a flat like mine?""",
        planned="""
        the letter says my rent goes to {v} {future}
        from {future} it's {v} for the flat, signed and sealed
        as of {future} I'll be paying {v} in rent""",
        ended="""
        the flat was {v} until {past}
        I paid {v} in rent before they renovated
        those days of {v} for a flat are behind me
        my rent was {v} back then, no longer""",
        reported="""
        {tom} pays {v} for {his} flat
        {tom} says {he} pays {v} in rent
        the people next door pay {v}
        average rent round here is {v}, the paper says""",
        fiction="""
        in Friends they'd pay {v} for that flat, as if
        in Monopoly the rent on my hotel was {v}
        the student in the novel pays {v} for an attic
        I dreamt my rent was {v} payable in fish""",
    ),
    relation(
        "subscription",
        "Netflix | Spotify | the Guardian | Disney+ | a veg box | The Economist | Audible"
        " | a meal kit | Duolingo Plus"
        " | YouTube Premium | the local paper | Strava",
        alike="tool",
        state="subscribe to {v}",
        begin="sign up to {v}",
        end="cancel {v} | unsubscribe from {v}",
        ask="""
        What [do] [you] subscribe to?
        Which subscription [do] [you] have?""",
        ask_any="""
        [Do] [you] have any subscriptions?""",
        ask_before="""
        Which subscription did [you] cancel?
        What did [you] use to subscribe to?""",
        ask_plan="""
        What [are] [you] going to subscribe to?""",
        true="""
        {v} comes off my card every month
        I've got {v}, use it daily
        signed up to {v} {past}, worth it
        we pay for {v}, the kids insist
        my {bare} subscription renews itself""",
        denied="""
        I don't have {v}, I just use my sister's
        {v} gets no money from me
        never subscribed to {v}, those mails are spam
        no {bare} here""",
        supposed="""
        {v} is tempting, but the price
        is {v} worth it?
        if {v} had a student rate I'd sign up
        do you have {v}?""",
        planned="""
        {v} starts {future}, already paid
        I've booked {v} from {future}
        we get {v} as of {future}, it's ordered""",
        ended="""
        I cancelled {v} {past}
        let {v} lapse {past}
        {v} got too expensive so out it went
        we had {v} until {past}""",
        reported="""
        {tom} subscribes to {v}
        {tom} says {he} has {v}
        everyone at work is on {v}, I'm told
        {tom} just signed up to {v}""",
        fiction="""
        in the sketch God subscribes to {v}
        I dreamt {v} sent me a bill for a thousand years
        the hermit in the film has no power but subscribes to {v}""",
    ),
    relation(
        "hobby",
        "pottery | rock climbing | birdwatching | knitting | yoga | fencing | salsa | gardening"
        " | archery | judo"
        " | woodcarving | swing dancing | bouldering | painting | beekeeping",
        alike="likes dislikes membership instrument",
        state="do {v} in my free time | practise {v}",
        begin="take up {v} | start {v}",
        end="give up {v} | stop doing {v}",
        ask="""
        What is [your] hobby?
        What [do] [you] do in [your] free time?
        What hobby [do] [you] have?""",
        ask_any="""
        [Do] [you] have a hobby?""",
        ask_before="""
        What hobby did [you] give up?
        What did [you] use to do in [your] free time?""",
        ask_plan="""
        What hobby [are] [you] going to take up?""",
        ask_wish="""
        What hobby would [you] like to take up?""",
        true="""
        weekends are for {v}
        {v} keeps me sane
        I got into {v} {past} and it ate my savings
        you'll find me at {v} every Tuesday
        my big passion is {v}""",
        denied="""
        {v} isn't something I do
        I've never had a go at {v}
        someone told you I do {v}? I don't
        no time for {v}, never had""",
        supposed="""
        I might try {v}, everyone raves about it
        if my shoulder were better I'd do {v}
        is {v} hard on the knees?
        {v} sounds fun, perhaps one day
        do you do {v}?""",
        planned="""
        I've booked a course in {v}, starts {future}
        {v} from {future}, paid in advance
        first {v} class is {future}""",
        ended="""
        I dropped {v} {past}
        {v} was my life once, then the kids came
        my {v} days are behind me
        I packed in {v} {past}, wrist trouble
        haven't done {v} since {past}, that's over""",
        reported="""
        {tom} does {v} now
        {tom} says {he} took up {v}
        {v} is what {tom} does on Sundays
        they say {v} is the new yoga""",
        fiction="""
        in the series the inspector does {v} to relax
        my character's only skill is {v}
        in my dream I was world champion at {v}
        the monk in the novel teaches {v}""",
    ),
    relation(
        "language",
        "Spanish | Dutch | Japanese | Welsh | Polish | Arabic | Finnish | Italian | Turkish"
        " | Greek | Korean | Swahili"
        " | Portuguese | Danish",
        alike="study",
        state="speak {v}",
        begin="start learning {v}",
        begin_holds=False,
        lasting=True,
        ask="""
        What language [do] [you] speak?
        Which foreign language [do] [you] know?
        What languages can [you] speak?""",
        ask_plan="""
        What language [are] [you] going to learn?""",
        ask_wish="""
        What language would [you] like to speak?""",
        true="""
        my {v} is decent, I get by
        we talk {v} at home
        I'm fluent in {v}
        I do the customer calls in {v}
        {v} is my second language""",
        denied="""
        I don't know a word of {v}
        no {v}, sorry, you'd have to translate
        I can't speak {v} to save my life
        {v} was never taught at my school, so I don't speak it""",
        supposed="""
        if I spoke {v} I'd have got the job
        I wish I could speak {v}
        do you speak {v}?
        maybe I'll learn {v} when I'm old""",
        planned="""
        I've enrolled in a course in {v}, begins {future}
        {v} lessons start {future}
        I'm learning {v} from {future}, teacher's booked""",
        ended="""
        I spoke {v} as a child, it's all gone
        my {v} has vanished completely
        I was fluent in {v} once, can't say a sentence now
        I gave up {v} {past}, never got past the verbs""",
        reported="""
        {tom} speaks {v}
        {tom} says {he}'s fluent in {v}
        the new colleague speaks {v}, they tell me
        {tom}'s kids speak {v} at home""",
        fiction="""
        the android in the film speaks {v}
        my character speaks {v} and Elvish
        I dreamt everybody spoke {v} but me, then I did too
        in the novel the parrot speaks {v}""",
    ),
    relation(
        "trip",
        "Rome | Iceland | Vienna | Mallorca | Tokyo | the Lake District | Morocco | Prague"
        " | Cape Town | the Alps | Crete"
        " | New York | Scotland | Kyoto",
        alike="home origin wedding deadline",
        begin="go to {v} | travel to {v} | fly to {v}",
        ask="""
        Where did [you] go?
        Where did [you] travel to?
        Where did [you] go on holiday?""",
        ask_plan="""
        Where will [you] go on holiday?
        Where [are] [you] going to travel?
        What trip [are] [you] planning?""",
        ask_wish="""
        Where would [you] like to travel?
        What trip [do] [you] dream of?""",
        true="""
        we spent a week in {v} {past}
        just got back from {v}, laundry everywhere
        {v} was amazing, we were there {past}
        I was in {v} {past} and ate far too much
        took the night train to {v} {past}""",
        denied="""
        we never made it to {v}
        I haven't been to {v}, those photos are my brother's
        the trip to {v} didn't happen, strike at the airport
        I've not set foot in {v}""",
        supposed="""
        {v} would be lovely, if we had the money
        anyone been to {v}?
        what about {v} this summer? just an idea
        if I get the days off I may go to {v}
        dying to see {v} one day""",
        planned="""
        flights booked: {v}, {future}
        we're off to {v} {future}
        {future} we're in {v}, hotel's paid
        {v} it is, we leave {future}""",
        reported="""
        {tom} went to {v} {past}
        {tom} says {v} was wonderful, {he} just got back
        the neighbours are in {v}
        {tom} sent a card from {v}""",
        fiction="""
        in the film they drive to {v} in a stolen bus
        I dreamt I flew to {v} on a mattress
        our party reached {v} in last night's session, half dead
        in the book he walks to {v} barefoot""",
    ),
    relation(
        "wedding",
        "a church | a barn | the town hall | a vineyard | a castle | a back garden | a beach hotel"
        " | a lighthouse",
        alike="partner trip deadline",
        begin="get married in {v} | marry in {v}",
        ask="""
        Where did [you] get married?
        Where was [your] wedding?""",
        ask_any="""
        [Are] [you] married?""",
        ask_plan="""
        Where [are] [you] going to get married?
        Where will [your] wedding be?""",
        ask_wish="""
        Where would [you] like to get married?""",
        true="""
        our wedding was in {v}, {past}, and it rained
        we said our vows in {v} {past}
        {v}, forty guests, one dress, that was our wedding {past}
        we tied the knot in {v} {past}""",
        denied="""
        we didn't get married in {v}, that was the party
        we never tied the knot in {v}, we couldn't book it
        our wedding was not in {v}, that was only the dinner""",
        supposed="""
        if we ever marry it'll be in {v}
        would {v} be a good place for a wedding?
        I'd love a wedding in {v}, but nobody's asked me
        maybe we'll do it in {v}, if we do it at all""",
        planned="""
        the wedding's {future}, in {v}
        save the date: we're getting married in {v} {future}
        {v} is booked for our wedding {future}""",
        reported="""
        {tom} got married in {v} {past}
        {tom} says {his} wedding was in {v}
        a colleague of mine is getting married in {v}
        {tom}'s wedding was in {v}, I saw the photos""",
        fiction="""
        the finale has a wedding in {v}
        my two sims got married in {v}
        in the novel they elope and marry in {v}
        I dreamt I got married in {v} to a hat stand""",
    ),
    relation(
        "purchase",
        "a toaster | a sofa | a laptop | a tent | a coffee machine | a winter coat | a printer"
        " | a mattress | a telescope"
        " | an air fryer | a rug | a drill | a freezer",
        alike="vehicle instrument repair",
        begin="buy {v} | order {v}",
        ask="""
        What did [you] buy?
        What did [you] get at the shop?
        What was [your] latest purchase?""",
        ask_plan="""
        What [are] [you] going to buy?
        What [are] [you] planning to buy?""",
        ask_wish="""
        What would [you] like to buy?""",
        true="""
        treated myself to {v} {past}
        finally got {v}, on sale too
        {v} arrived {past}, I paid way too much
        picked up {v} {past} at the flea market
        my card is still smoking: I bought {v}""",
        denied="""
        I didn't buy {v} after all
        walked past {v} and kept my wallet shut
        I left the shop without {v}
        haven't bought {v}, the price was a joke""",
        supposed="""
        I'm eyeing {v}, undecided
        should I buy {v}?
        if they drop the price I'd get {v}
        do we need {v}? I wonder
        I could do with {v}, maybe""",
        planned="""
        I'm getting {v} {future}, saved up for it
        {v} is on order, it ships {future}
        payday is {future} and {v} will be mine
        we're picking up {v} {future}""",
        reported="""
        {tom} bought {v}
        {tom} says {he} ordered {v}
        my mum got {v}, now she won't stop talking about it
        {tom} went and bought {v} {past}""",
        fiction="""
        in the game I bought {v} for 300 gold
        in the film the alien buys {v}
        I dreamt I'd bought {v} and it talked back
        the joke goes: a horse walks in and buys {v}""",
    ),
    relation(
        "repair",
        "the dishwasher | the roof | the boiler | the back door | the washing machine | the fence"
        " | the radiator"
        " | the kitchen tap | the oven | the gutter | the doorbell",
        alike="purchase vehicle",
        begin="fix {v} | repair {v} | get {v} repaired",
        ask="""
        What did [you] fix?
        What did [you] repair?
        What did [you] have repaired?""",
        ask_plan="""
        What [are] [you] going to fix?
        What [are] [you] planning to repair?""",
        ask_wish="""
        What would [you] like to repair?""",
        true="""
        {v} works again, I did it myself {past}
        had a man in to fix {v} {past}, cost a bomb
        spent the whole afternoon on {v} and now it's fixed
        {v}: repaired {past}, invoice attached""",
        denied="""
        {v} is still broken, I haven't got round to it
        I never fixed {v}
        nobody came to repair {v}, so it isn't done
        couldn't fix {v}, gave up swearing""",
        supposed="""
        if {v} goes again I'd have to fix it myself
        can you even repair {v}?
        {v} could do with a repair, maybe, at some point
        I wonder what fixing {v} would cost""",
        planned="""
        the plumber's coming for {v} {future}
        {v} gets fixed {future}, appointment made
        {future} I'm doing {v}, parts are here""",
        reported="""
        {tom} fixed {v} at {his} place
        {tom} says {he} repaired {v}
        the landlord claims somebody fixed {v} downstairs
        {tom} got {his} brother to mend {v}""",
        fiction="""
        in the sitcom he fixes {v} and floods the house
        level three: you repair {v} while zombies come in
        I dreamt I fixed {v} with spaghetti
        in the story the elves repair {v} at night""",
    ),
    relation(
        "illness",
        "the flu | shingles | a slipped disc | migraines | tonsillitis | a stomach bug"
        " | tennis elbow | bronchitis"
        " | a sinus infection | high blood pressure | a cough",
        alike="medication",
        state="have {v} | suffer from {v}",
        begin="come down with {v} | get {v}",
        end="get over {v} | recover from {v}",
        ask="""
        What is wrong with [you]?
        What illness [do] [you] have?
        What [are] [you] suffering from?""",
        ask_any="""
        [Are] [you] ill?""",
        ask_before="""
        What illness did [you] recover from?
        What illness did [you] use to have?""",
        true="""
        flat on my back with {v}
        caught {v} {past}, not fun
        the doctor says it's {v}, so I'm off work
        {v} got me {past} and won't let go
        diagnosed with {v} {past}""",
        denied="""
        it's not {v}, they checked
        I haven't got {v}, I'm only tired
        negative for {v}, phew
        never had {v}, touch wood""",
        supposed="""
        feels like {v}, but who knows
        could it be {v}?
        if it's {v} I'm cancelling everything
        have you got {v}?
        I'm worried it might be {v}""",
        ended="""
        {v} is behind me, back at my desk since {past}
        I'm over {v}, thanks for asking
        finally shook off {v} {past}
        {v} cleared up {past}
        all better, no more {v}""",
        reported="""
        {tom} has {v}, poor thing
        {tom} called in sick, {v} {he} says
        it's going round, half the school has {v}
        {tom} came down with {v} {past}""",
        fiction="""
        in the drama the surgeon has {v} and operates anyway
        in the video game my sim caught {v}
        the heroine dies of {v} on page 400
        I dreamt I had {v} and was given a medal""",
    ),
    relation(
        "study",
        "law | nursing | architecture | biology | philosophy | physics | marine engineering"
        " | history | graphic design"
        " | economics | dentistry | theology",
        alike="employer role language",
        exclusive=True,
        state="study {v}",
        begin="start studying {v} | enrol in {v}",
        end="drop out of {v} | give up studying {v}",
        ask="""
        What [do] [you] study?
        What subject [are] [you] studying?
        What is [your] degree course?""",
        ask_any="""
        [Are] [you] a student?""",
        ask_before="""
        What did [you] study before?
        What course did [you] drop?""",
        ask_plan="""
        What [are] [you] going to study?
        What will [you] study?""",
        ask_wish="""
        What would [you] like to study?""",
        true="""
        third year of {v}, send help
        I'm doing a degree in {v}
        enrolled in {v} {past} and drowning in reading
        my course is {v}, evening classes
        I'm reading {v} at uni""",
        denied="""
        I don't do {v}, I just hang out in their cafeteria
        I've never studied {v}
        they rejected me for {v}
        {v} isn't my subject and never was""",
        supposed="""
        {v} would have been my second choice
        should I study {v}?
        if I got the grant I'd do {v}
        I might go for {v}, still reading up on it""",
        planned="""
        got my place: {v}, starting {future}
        I begin {v} {future}
        term starts {future} and I'll be doing {v}
        {v} from {future}, enrolment's done""",
        ended="""
        quit {v} {past}
        finished my degree in {v} {past}
        I dropped {v} after two terms
        {v} and I parted ways {past}""",
        reported="""
        {tom} studies {v}
        {tom} says {he}'s doing {v}
        my flatmate is in her second year of {v}
        {tom}'s daughter got into {v}""",
        fiction="""
        in the novel he studies {v} by candlelight
        my character studied {v} at a haunted college
        in the teen show everybody studies {v}
        I dreamt I had an exam in {v} with no clothes on""",
    ),
    relation(
        "volunteering",
        "the food bank | the animal shelter | a hospice | the refugee centre | the repair café"
        " | the mountain rescue"
        " | the museum | a helpline | the community garden | the lifeboat station",
        alike="employer membership",
        state="volunteer at {v} | help out at {v}",
        begin="start volunteering at {v}",
        end="stop volunteering at {v}",
        ask="""
        Where [do] [you] volunteer?
        Where [do] [you] help out?""",
        ask_any="""
        [Do] [you] volunteer anywhere?""",
        ask_before="""
        Where did [you] use to volunteer?""",
        ask_plan="""
        Where [are] [you] going to volunteer?""",
        ask_wish="""
        Where would [you] like to volunteer?""",
        true="""
        Saturday mornings I'm at {v}, unpaid and happy
        I've been giving my Fridays to {v} since {past}
        I do shifts at {v}, as a volunteer
        {v} has me on the rota every week""",
        denied="""
        {v} isn't my thing, I don't help there
        I never volunteered at {v}, wrong person
        they asked me to help at {v} and I said no""",
        supposed="""
        I ought to help at {v}, really
        do they need people at {v}?
        if I had more time I'd volunteer at {v}
        perhaps {v} would take me""",
        planned="""
        my first shift at {v} is {future}
        I've signed up to help at {v}, starting {future}
        training's done, I begin at {v} {future}""",
        ended="""
        I gave up my shifts at {v} {past}
        handed back my keys for {v} {past}
        {v} closed my rota slot, so that's finished
        I did five years at {v} and then stepped down""",
        reported="""
        {tom} volunteers at {v}
        {tom} says {he} helps at {v}
        a friend of {tom}'s is at {v} every week
        {tom} started at {v} {past}""",
        fiction="""
        in the sitcom the crook volunteers at {v}
        my paladin helps out at {v} between battles
        in the novel she meets him at {v}, where she volunteers
        dreamt I was volunteering at {v} for penguins""",
    ),
    relation(
        "commute",
        "the tram | the train | the ferry | the bus | the tube | the company shuttle",
        alike="vehicle trip",
        exclusive=True,
        state="take {v} to work",
        begin="switch to {v} for my commute",
        end="stop taking {v} to work",
        ask="""
        How [do] [you] get to work?
        What [do] [you] take to work?
        How [do] [you] commute?""",
        ask_before="""
        How did [you] use to get to work?""",
        ask_plan="""
        How [are] [you] going to commute?""",
        ask_wish="""
        How would [you] like to commute?""",
        true="""
        {v} gets me to work in forty minutes
        my commute is {v} and a podcast
        on {v} to the office as usual, phone in hand
        I do the trip to the office by {bare}, more or less: {v} stops outside""",
        denied="""
        I don't go to work by {bare}, I avoid {v}
        {v} plays no part in my commute
        I have never once taken {v} to the office""",
        supposed="""
        {v} might be faster to work, I've yet to try
        if {v} ran earlier I'd take it to work
        does anybody take {v} to the office?
        would {v} get me to work on time?""",
        planned="""
        from {future} I'll take {v} to work, got the pass already
        pass bought, {v} to the office from {future}
        {future} I'm changing my commute to {v}""",
        ended="""
        I gave up {v} {past}, no more of that commute
        it was {v} to the office until {past}
        I quit commuting by {bare}, {v} was never on time
        no more commuting by {bare} since {past}""",
        reported="""
        {tom} takes {v} to work
        {tom} says {he} comes in on {v}
        most of the others come in on {v}, they told me
        {tom} gets to {his} office by {bare}, {v} stops at {his} door""",
        fiction="""
        in the film he takes {v} to work and never arrives
        the clerk in the story takes {v} to work and falls in love there
        I dreamt I took {v} to work and it was underwater""",
    ),
    relation(
        "insurer",
        "Allianz | Aviva | AXA | Barmenia | Zurich | Ergo | Generali | Bupa | State Farm | Geico",
        exclusive=True,
        alike="employer",
        state="be insured with {v}",
        begin="switch to {v} for my insurance",
        end="cancel my {v} policy",
        ask="""
        Who [are] [you] insured with?
        Which insurer [do] [you] have?
        What is [your] insurance company?""",
        ask_before="""
        Which insurer did [you] leave?
        Who [were] [you] insured with before?""",
        ask_plan="""
        Which insurer [are] [you] going to switch to?""",
        true="""
        my policy is with {v}
        {v} covers the flat and me
        I took out insurance with {v} {past}
        {v} insures us, contents and all""",
        denied="""
        my policy isn't with {v}, they just phone a lot
        {v} wouldn't insure me
        I don't hold any policy with {v}""",
        supposed="""
        {v} might be cheaper for insurance, comparing at the moment
        would {v} cover a broken window?
        if I were insured with {v} they'd pay this
        is anyone with {v} for insurance?""",
        planned="""
        my insurance moves to {v} {future}
        the policy with {v} starts {future}, signed
        from {future} {v} will insure us""",
        ended="""
        I cancelled the policy with {v} {past}
        {v} dropped me {past}
        my {v} policy ran out {past} and I didn't renew
        we were with {v} for insurance, not these days""",
        reported="""
        {tom} is insured with {v}
        {tom} says {v} insures {him}
        {tom}'s claim went to {v}
        they say {v} pays quickly, I read it""",
        fiction="""
        the conman in the film sells policies for {v} and is insured with them too
        in the farce the castle is insured with {v}
        for the role play I'm a customer insured with {v}""",
    ),
    relation(
        "team",
        "Leeds United | Ajax | the Red Sox | Celtic | Bayern | the Lakers | Benfica | Fulham"
        " | the Maple Leafs | Napoli"
        " | Arsenal | the Packers",
        exclusive=True,
        alike="membership",
        state="support {v}",
        begin="become a fan of {v}",
        end="stop supporting {v} | turn my back on {v}",
        ask="""
        Which team [do] [you] support?
        What is [your] team?
        Who [do] [you] root for?""",
        ask_before="""
        Which team did [you] use to support?""",
        true="""
        {v} till I die
        I've got the {bare} scarf on right now, my lot
        {v}, that's my team, for better or worse
        season ticket holder at {v}, since {past}""",
        denied="""
        I'm no fan of {v}
        the {bare} shirt was a gift, I don't support them
        never cheered for {v} in my life""",
        supposed="""
        if I followed football it'd be {v}
        do you support {v}?
        would my dad forgive me for supporting {v}?
        I could become a fan of {v}, who knows""",
        ended="""
        I turned in my {bare} season ticket {past}, done with them
        {v} lost me as a fan {past}
        I followed {v} for years, no longer
        me and {v}, that's finished""",
        reported="""
        {tom} supports {v}
        {tom} says {he} roots for {v}
        the whole office is for {v}, bar one
        {tom}'s been a fan of {v} forever""",
        fiction="""
        in the film the killer supports {v}
        in Football Manager I'm in charge of {v}, and a fan of course
        I dreamt I played for {v} in slippers
        the priest in the sitcom is a fan of {v}""",
    ),
    relation(
        "doctor",
        "Dr Patel | Dr Lindqvist | Dr Moreau | Dr Ahmed | Dr Kowalski | Dr Finch | Dr Sato"
        " | Dr Reyes | Dr Murphy",
        exclusive=True,
        alike="illness medication",
        state="go to {v} for check-ups | be a patient of {v}",
        begin="register with {v} | switch to {v}",
        end="leave {v} for another practice",
        ask="""
        Who is [your] doctor?
        Which doctor [do] [you] go to?""",
        ask_before="""
        Who was [your] previous doctor?
        Which doctor did [you] use to see?""",
        ask_plan="""
        Which doctor [are] [you] going to switch to?""",
        true="""
        {v} is my GP and knows all my knees
        I've been seeing {v} since {past}
        my doctor, {v}, is always running late
        registered with {v} {past}""",
        denied="""
        {v} isn't my doctor, I only sat in the waiting room
        {v} wasn't taking patients, so no
        I have never been to see {v}""",
        supposed="""
        should I try {v}?
        {v} might take me on, they'll call
        is {v} any good?
        if {v} had space I'd change tomorrow""",
        planned="""
        I'm changing doctors, {v} from {future}
        first appointment with {v}, my new GP, is {future}
        my file moves to {v} {future}""",
        ended="""
        {v} was my doctor until {past}
        {v} retired {past}, so I lost my GP
        I stopped seeing {v} {past}
        I left {v}'s practice {past}""",
        reported="""
        {tom} sees {v}
        {tom} says {v} is {his} doctor
        {tom}'s GP is {v}
        people say {v} is the best in town""",
        fiction="""
        in the soap {v} poisons half the ward
        we played doctors and I was a patient of {v}, aged six
        in the novel {v} is the village doctor and a werewolf
        I dreamt {v} was my doctor and prescribed ice cream""",
    ),
)
