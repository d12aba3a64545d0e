"""A conversation of forty turns over five days, written for the tests of `wrap`, and ten questions about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

DAYS: tuple[tuple[datetime, tuple[tuple[str, str], ...]], ...] = (
    (
        datetime(2025, 9, 8, 18, 30, tzinfo=UTC),
        (
            ("hiya, I'm Farida. I drive the 640 bus in Bradford, early shifts mostly, so I'm up at four.",
             "Hello Farida! Four in the morning deserves respect. What can I do for you?"),
            ("Dinner ideas please. Nothing with sesame, my son Idris swells up like a balloon.",
             "Chicken and chickpea tray bake with lemon rice. No tahini in it anywhere."),
            ("ooh yes. He's nine, he'll pick the chickpeas out and line them up on the plate.",
             "A chickpea parade, then. Shall I write the shopping list?"),
            ("No need. The car's at Hanif's garage since this morning, the clutch went on Manchester Road.",
             "That's a nasty place to stop. Did he say how long?"),
            ("He reckons Thursday and about 420 quid. I nearly cried.",
             "A clutch is never cheap. It might be worth asking for a written quote."),
            ("My sister Nadia comes on the 20th, she's flying in from Toronto. Two years since I saw her!",
             "How lovely. Do you want to plan something for her first evening?"),
            ("She sleeps in the box room. I have to clear the exercise bike out of there first.",
             "One corner a day, and it is done in a week."),
            ("haha, we'll see. Good night, alarm's at ten to four.",
             "Good night, Farida."),
        ),
    ),
    (
        datetime(2025, 9, 11, 13, 5, tzinfo=UTC),
        (
            ("Me again. Idris has the dentist on Tuesday the 16th at half past three, the practice on Leeds Road.",
             "Noted. Does he mind going?"),
            ("He's fine as long as it's Dr. Okafor and not the other one with the cold hands.",
             "Warm hands matter. I hope it's Dr. Okafor."),
            ("Got the car back. It was 455 in the end because of some bearing.",
             "A little more than he said, but at least it drives."),
            ("Do you know how to get candle wax out of a rug?",
             "Brown paper on top, a warm iron over it, and move the paper often."),
            ("brilliant, it worked! It's my mother's red Bokhara, she'd have haunted me.",
             "Disaster averted."),
            ("I've applied for the tram driver training in Sheffield, don't tell anyone at the depot.",
             "My lips are sealed. When do you hear from them?"),
            ("They said within a fortnight. The pay's four pounds an hour more.",
             "That would be a real difference."),
            ("Wifi's been rubbish all week. I'm ringing Plusnet tomorrow and if they dither I'm off.",
             "Have the dates of the failures at hand when you call."),
        ),
    ),
    (
        datetime(2025, 9, 14, 9, 40, tzinfo=UTC),
        (
            ("Morning. I cancelled Plusnet, Zen are coming to put a new line in on the 25th.",
             "Good decision. Ask them whether you keep your number."),
            ("The dentist rang, they moved Idris to Wednesday the 17th, same time.",
             "Wednesday then. I'll think of the new day."),
            ("Exercise bike is gone! Sold it to a lad from Shipley for 60 quid.",
             "Well sold. The box room must look twice as big."),
            ("Now it needs a bed. Nadia's got a bad back, so a proper mattress, firm.",
             "A firm pocket spring mattress would suit her. What size is the room?"),
            ("Two metres ten by three forty. The door opens inwards, of course.",
             "Then a single of 90 by 190 along the long wall leaves room for the door."),
            ("Ordered one. It arrives on Thursday between eight and noon, and I'm on shift, typical.",
             "Could a neighbour take it in?"),
            ("Mrs. Pickles at number 12 will, she's always in. I'll make her my lamb thing.",
             "A fair trade, if ever there was one."),
            ("I've started walking home from the depot, 5 k, my knee's not complaining so far.",
             "Slowly increasing is the way. Good shoes help most."),
        ),
    ),
    (
        datetime(2025, 9, 19, 20, 15, tzinfo=UTC),
        (
            ("I GOT IT. Sheffield want me, training starts on the 3rd of November!",
             "Congratulations, Farida! That is wonderful news."),
            ("Six weeks of training, then I'm on the yellow route. I told my manager Colin today and he was sweet.",
             "A kind manager makes leaving harder. Will you commute?"),
            ("By train for now. Maybe we move in spring, Idris would have to change schools though.",
             "There is time. You could look at schools in January."),
            ("He had one filling on Wednesday, and it was the cold hands one. He's furious with me.",
             "Poor Idris. He has earned something nice."),
            ("I promised him a hamster. God help me.",
             "Hamsters are awake at night, so keep it out of the bedroom."),
            ("Nadia's flight lands at 6.50 tomorrow in the morning, Terminal 2 in Manchester.",
             "An early one. Allow an hour for the road."),
            ("She's vegetarian now! Since January, she tells me this today. There goes the lamb.",
             "The chickpeas have their hour. I can look for a festive vegetarian dish."),
            ("Make it a good one, there'll be seven of us on Sunday.",
             "Stuffed aubergines with rice and pomegranate for seven, and a big salad."),
        ),
    ),
    (
        datetime(2025, 9, 23, 17, 50, tzinfo=UTC),
        (
            ("The aubergines were a triumph. Uncle Bashir had three and asked for the recipe.",
             "Three! I'm delighted."),
            ("We got the hamster yesterday. He's called Kevin. I had no vote.",
             "Kevin is a strong name for a hamster."),
            ("Nadia stays until the 7th of October, then she's off to a wedding in Lahore.",
             "Two good weeks, then. Anything planned?"),
            ("Whitby on Saturday if the weather holds. She wants proper chips by the sea.",
             "Go early, the queue at the harbour is famous."),
            ("My knee's bad since Sunday, physio says no walking home for three weeks.",
             "I'm sorry. Then it's the bus, as a passenger for once."),
            ("Zen moved the appointment to the 29th. They're all the same, aren't they.",
             "They do seem to share a calendar."),
            ("Can you remind me what I must not forget for the training? They need my licence and an eye test.",
             "Your licence, and an eye test before you start. An optician can do it within a week."),
            ("Eye test's booked, Specsavers in town, 14 October at ten.",
             "Well done, that leaves time to spare."),
        ),
    ),
)  # fmt: skip
"""Each day: when the first message was sent, then what the user says and what the assistant answers."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question in other words than those of the conversation, and what of it has to come back."""

    asked: str
    evidence: str


LATER = datetime(2025, 10, 1, 12, 0, tzinfo=UTC)
QUESTIONS = (
    Question("I want to bake something for my boy's class. Is there an ingredient I should avoid?", "sesame"),
    Question("What did I end up paying for the repair of the clutch?", "It was 455 in the end"),
    Question("Which company is going to provide our internet?", "Zen"),
    Question("When does the technician come to install the line?", "moved the appointment to the 29th"),
    Question("On which day did Idris have to go and get his teeth looked at?", "Wednesday the 17th"),
    Question("When do I begin learning to drive a tram?", "training starts on the 3rd of November"),
    Question("What can't I cook for my sister?", "She's vegetarian now"),
    Question("What is our new pet called?", "He's called Kevin"),
    Question("Who took in the mattress while I was at work?", "Mrs. Pickles"),
    Question("Why am I not allowed to go home on foot these days?", "physio says no walking home"),
)


def turns() -> list[tuple[datetime, str, str]]:
    """When something is said, what, and the answer; two minutes lie between one message and the next."""
    return [
        (first + timedelta(minutes=2 * place), said, answer)
        for first, day in DAYS
        for place, (said, answer) in enumerate(day)
    ]
