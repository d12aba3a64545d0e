"""Short forms of first names: "Bob" may be "Robert"."""

from __future__ import annotations

from functools import lru_cache

_SHORT = """
abigail abby gail|alexander alex al xander sasha|alexandra alex lexi sandra sasha|alfred al fred alfie|allison ally
amanda mandy|andrew andy drew|angela angie|anthony tony|arthur art artie|barbara barb barbie|benjamin ben benji benny
bernard bernie|beverly bev|bradley brad|caroline carrie caro|catherine cathy kate katie cat|charles charlie chuck chaz
charlotte charlie lottie|christina chris chrissy tina|christine chris chrissy tina|christopher chris topher
cynthia cindy|daniel dan danny|david dave davey|deborah deb debbie|dennis denny|donald don donny|dorothy dot dottie
douglas doug|edward ed eddie ned ted teddy|eleanor ellie nora|elizabeth liz lizzie beth betty eliza betsy lisa libby
emily em emmy|eugene gene|evelyn evie|florence flo|frances fran frankie|francis frank frankie|frederick fred freddie
gabriel gabe|gabrielle gabby|geoffrey geoff jeff|george georgie|gerald gerry jerry|gregory greg|gwendolyn gwen
harold harry hal|henry harry hank|isabella bella izzy|jacob jake|jacqueline jackie|james jim jimmy jamie
janet jan|jason jay|jeffrey jeff|jennifer jen jenny|jeremy jerry|jessica jess jessie|joanna jo joey|john johnny jack jon
jonathan jon jonny nathan|joseph joe joey|joshua josh|judith judy|julia julie jules|katherine kate katie kathy kat kitty
kathleen kathy kate|kenneth ken kenny|kimberly kim kimmy|lawrence larry|leonard leo len lenny|leonardo leo|lillian lily
louis lou louie|lucas luke|lucille lucy|madeline maddie|margaret maggie meg peggy marge margie|martin marty|mary molly
matthew matt matty|maxwell max|maximilian max|melanie mel|melissa mel missy|michael mike mikey mick mickey
michelle shelly|miguel mike|mitchell mitch|nancy nan|natalie nat|natasha nat tasha|nathaniel nate nathan nat
nathan nate|nicholas nick nicky nico|nicole nikki nicky|olivia liv livvy|oliver ollie|pamela pam
patricia pat patty trish
patrick pat paddy|peter pete|philip phil pip|phillip phil|priscilla cilla|rachel rach|randall randy|raymond ray
rebecca becca becky|reginald reg reggie|richard rick rich dick ricky|robert bob bobby rob robbie|roberta bobbie
ronald ron ronnie|rosemary rose rosie|russell russ|ruth ruthie|samantha sam sammy|samuel sam sammy|sandra sandy
sarah sadie sally|sebastian seb|stanley stan|stephanie steph stevie|stephen steve|steven steve|susan sue susie suzy
suzanne sue suzy|terence terry|theodore ted teddy theo|theresa terry tess|thomas tom tommy|timothy tim timmy
valerie val|veronica ronnie vera|victor vic|victoria vicky tori|vincent vince vinny|virginia ginny|walter walt wally
wendy wen|wilhelmina mina|william will bill billy liam willy|winston win|zachary zach zack
"""


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for group in _SHORT.replace("\n", "|").split("|"):
        full, *short = group.split() or [""]
        for name in short:
            table.setdefault(full, set()).add(name)
            table.setdefault(name, set()).add(full)
    return {name: frozenset(others) for name, others in table.items()}


NICKNAMES = _table()


@lru_cache(maxsize=4096)
def akin(name: str) -> frozenset[str]:
    """The other first names that can be the same person's: its full and short forms, and those of its full forms."""
    name = name.lower()
    near = NICKNAMES.get(name, frozenset())
    beside = {
        other
        for full in near
        if len(full) > len(name)
        for other in NICKNAMES.get(full, ())
        if len(other) < len(full)
    }
    return (near | beside) - {name}


def may_be(one: str, other: str) -> bool:
    """Whether two first names can be one person's: the full name and a short form, or two short forms of it."""
    return one.lower() == other.lower() or other.lower() in akin(one)
