"""Forgetting: removes turns and everything derived from them, in one transaction, and then overwrites the bytes.

The order: choose the turns; embed the turns that follow them with a new context; clear the caches; in one transaction
write tombstones and remove facts, derived units, entities and search terms; refill links; overwrite the files;
extract again what depended on the removed turns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

import numpy as np

from everwhen.errors import ModelChanged, NotFound, Unavailable
from everwhen.facts.changes import close_chains
from everwhen.facts.statements import folded
from everwhen.models.embedder import CachedEmbedder, Embedder
from everwhen.settings import Settings
from everwhen.store.base import VectorModel
from everwhen.store.rows import Follower, ReembeddedTurn, RemovedUnits
from everwhen.store.sql.maintenance import Eraser
from everwhen.store.sql.store import Store
from everwhen.tree.levels import Levels, read_levels
from everwhen.types import Entity, Receipt, Turn
from everwhen.write.extract.base import BATCH_TURNS, LOOK_BACK_TURNS
from everwhen.write.links import SEMANTIC_MOST, Similar, link_in_meaning, link_in_time, similar_units
from everwhen.write.remember import context_of, embed_spoken, embedded_texts, in_batches, spoken
from everwhen_time import Interval


class CacheCleaner:
    """Removes entries from the embedding cache of the home folder: it holds no text, but vectors reveal much of the
    text."""

    def __init__(self, store: Store, embedder: Embedder, settings: Settings) -> None:
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._dropped = 0
        self.problems: list[str] = []

    def drop_turns(self, turns: Sequence[Turn], followers: Sequence[Turn]) -> None:
        """What was embedded of turns, and of those that were embedded with their end."""
        for batch in in_batches([*turns, *followers], self._settings.batch):
            contexts = self._store.contexts([turn.id for turn in batch])
            texts = []
            for turn in batch:
                said = spoken(turn, contexts.get(turn.id, ""), self._settings)
                for dated in (None, (turn.said_at, turn.zone)):  # whatever the setting was then
                    texts += embedded_texts(self._embedder, replace(said, dated=dated))
            self._forget(texts)

    def drop(self, texts: Sequence[str]) -> int:
        """What was embedded of derived things. How many texts were dropped in all."""
        for batch in in_batches(texts, self._settings.batch):
            self._forget([piece for text in batch for piece in self._embedder.pieces(text)])
        return self._dropped

    def _forget(self, texts: Sequence[str]) -> None:
        if not isinstance(self._embedder, CachedEmbedder) or not texts:
            return
        if self._embedder.forget(texts):
            self._dropped += len(set(texts))
        else:
            self._tell()

    def scrub(self) -> None:
        """The last bytes of what was dropped."""
        if self._dropped and isinstance(self._embedder, CachedEmbedder) and not self._embedder.scrub():
            self._tell()

    def _tell(self) -> None:
        if isinstance(self._embedder, CachedEmbedder) and not self.problems:
            self.problems.append(
                f"the embedding cache {self._embedder.path} could not be cleaned "
                f"({self._embedder.problem or 'another process uses it'}); it may be deleted as a whole"
            )


_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Removed:
    removed_units: RemovedUnits
    facts: tuple[str, ...]
    again: tuple[str, ...]
    texts: tuple[str, ...]
    nodes: tuple[str, ...] = ()
    until: datetime | None = None
    """The end of the last window that a node was taken from."""


def remove(
    eraser: Eraser,
    store: Store,
    turns: Sequence[Turn],
    near: Sequence[str],
    retold: Sequence[ReembeddedTurn],
    names: Sequence[str],
    facts: Sequence[str],
    levels: Levels,
    at: datetime,
) -> Removed:
    """The rows, inside the transaction."""
    ids = [turn.id for turn in turns]
    eraser.remember(ids, at)
    uprooted = eraser.uproot(ids, [levels.session(*one) for one in store.tree.sessions_of(ids)])
    lost = list(
        dict.fromkeys([*facts, *(eraser.facts_about([folded(name) for name in names]) if names else ())])
    )
    again = [*near, *(turn for sources in store.facts.sources(facts).values() for turn in sources)]
    for fact, left in eraser.uncite(ids).items():
        if fact in lost:
            continue
        if not left:
            lost.append(fact)
        elif eraser.is_only_learned(fact):
            lost.append(fact)  # what the other turns say of it is learned from them again
            again += [source for source in left if source not in again]
    again += eraser.told_with([*ids, *again])  # a plan's next version rests on the plan's turn as well
    lost += leaked_facts(eraser, store, turns, [one for one in again if one not in ids], lost)
    close_chains(eraser.facts, lost, at)
    texts = eraser.erase_facts(lost)
    staying = [one for one in dict.fromkeys(again) if one not in set(ids)]
    removed_units = eraser.remove(ids, staying, retold, reports=names)
    if uprooted.ids:
        eraser.mark([levels.session(*one) for one in store.tree.sessions_of(staying)])
    echo = _silence(eraser, store, turns, levels, at)
    return Removed(
        removed_units,
        (*lost, *echo.facts),
        tuple(dict.fromkeys((*staying, *echo.again))),
        (*texts, *removed_units.texts, *uprooted.texts, *echo.texts),
        (*uprooted.ids, *echo.nodes),
        max(filter(None, (uprooted.until, echo.until)), default=None),
    )


class _Echo(NamedTuple):
    facts: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    until: datetime | None = None


def _silence(eraser: Eraser, store: Store, turns: Sequence[Turn], levels: Levels, at: datetime) -> _Echo:
    """What is left and has a word in it that only the forgotten turns said, wherever it got it from: a model that was
    shown a summary of them, a name that was resolved. It goes too, and is made again from its own turns."""
    found = eraser.echoes(sorted(words(f"{turn.speaker} {turn.text}" for turn in turns)))
    if not found:
        return _Echo()
    # A fact is worded by us ("lives in"): only what its subject or object takes from nowhere else is an echo.
    named = [id_ for id_, kind, _ in found if kind == "fact"]
    facts = _borrowed(eraser, store, turns, store.facts.sources(named)) if named else []
    again = eraser.told_with(
        [turn for id_, kind, rest in found if kind != "fact" or id_ in facts for turn in rest]
    )
    under = [turn for _, kind, rest in found if kind == "node" for turn in rest]
    close_chains(eraser.facts, facts, at)
    texts = eraser.erase_facts(facts)
    uprooted = eraser.uproot(under, [levels.session(*one) for one in store.tree.sessions_of(under)])
    eraser.mark([levels.session(*one) for one in store.tree.sessions_of(again)])
    removed_units = eraser.remove((), list(dict.fromkeys(again)), ())
    return _Echo(
        tuple(facts),
        tuple(again),
        uprooted.ids,
        (*texts, *removed_units.texts, *uprooted.texts),
        uprooted.until,
    )


def leaked_facts(
    eraser: Eraser, store: Store, turns: Sequence[Turn], again: Sequence[str], but: Sequence[str]
) -> list[str]:
    """Facts from turns that stay, but whose words come only from forgotten turns: "she" was resolved to a forgotten
    person. These turns are extracted again, and then say only what they say by themselves."""
    sources = store.facts.sources(store.facts.from_sources(again))
    return _borrowed(eraser, store, turns, {fact: said for fact, said in sources.items() if fact not in but})


def _borrowed(
    eraser: Eraser, store: Store, turns: Sequence[Turn], facts: Mapping[str, Sequence[str]]
) -> list[str]:
    """Those of some learned facts (with their sources) that have words of the forgotten turns which theirs lack."""
    removed_units = {turn.id for turn in turns}
    said = words(f"{turn.speaker} {turn.text}" for turn in turns)
    rest = [source for several in facts.values() for source in several if source not in removed_units]
    own = {turn.id: words([f"{turn.speaker} {turn.text}"]) for turn in store.turns(ids=rest)}
    found = []
    for fact, sources in facts.items():
        theirs = frozenset(word for source in sources for word in own.get(source, ()))
        if eraser.is_only_learned(fact) and (words([eraser.fact_words(fact)]) & said) - theirs:
            found.append(fact)
    return found


def words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


ATTEMPTS = 5
"""How often a plan is made anew because somebody added a turn right behind one that goes."""
LINKED_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """What to forget. Each field adds to the selection: a session and an entity together mean both, not their
    overlap."""

    turns: tuple[str, ...] = ()
    session: str | None = None
    entity: Entity | None = None
    between: Interval | None = None
    everything: bool = False
    facts: tuple[str, ...] = ()
    """By id, whatever their sources; those are read again."""


class ForgetOutcome(NamedTuple):
    """The receipt, and the end of the last tree window whose summary has to be built again."""

    receipt: Receipt
    until: datetime | None = None


def forget(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    wanted: ForgetRequest,
    at: datetime,
    *,
    dry_run: bool = False,
) -> ForgetOutcome:
    """Forget for good, or with `dry_run` only tell what would go. All of it happens, or nothing."""
    turns, names = choose(store, wanted)
    if wanted.everything:
        return ForgetOutcome(_everything(store, embedder, settings, turns, at, dry_run))
    if not turns and not names and not wanted.facts:
        return ForgetOutcome(
            Receipt(at, dry_run, erased=True, notes=("there is nothing that this speaks of",))
        )
    ids = [turn.id for turn in turns]
    levels = read_levels(store.tree.levels(), settings.tree_windows, settings.tree_exchanges, store.info.zone)
    for _ in range(ATTEMPTS):
        followers = store.keep.followers(ids)
        retold = reembed_followers(embedder, settings, followers)
        near = affected(store, turns)
        cache = CacheCleaner(store, embedder, settings)
        if not dry_run:
            cache.drop_turns(turns, [one.turn for one in followers])
        removed: Removed | None = None
        with store.keep.forgetting() as eraser:
            if eraser.followers(ids) != followers:
                continue  # somebody spoke meanwhile: another context is to be made
            removed = remove(eraser, store, turns, near, retold, names, wanted.facts, levels, at)
            if dry_run:
                eraser.undo()
        assert removed is not None
        removed_units = removed.removed_units
        receipt = Receipt(
            at,
            dry_run,
            turns=tuple(ids),
            sessions=_emptied(store, turns),
            events=removed_units.units.get("event", ()),
            narratives=removed_units.units.get("narrative", ()),
            nodes=removed.nodes,
            facts=removed.facts,
            entities=removed_units.entities,
            vectors=removed_units.vectors,
            links=removed_units.links,
            rebuilt=removed.again,
        )
        if dry_run:
            return ForgetOutcome(receipt)
        refill_links(store, removed_units.unlinked, settings.link_similarity)
        receipt = replace(receipt, cached=cache.drop(removed.texts))
        return ForgetOutcome(finish(store, receipt, cache), removed.until)
    raise Unavailable("turns are being added right behind those to be forgotten; try again in a moment")


def choose(store: Store, wanted: ForgetRequest) -> tuple[list[Turn], list[str]]:
    """The turns to remove and, where an entity is forgotten, the names that it has."""
    if wanted.everything:
        return list(store.turns()), []
    found: dict[str, Turn] = {}
    names: list[str] = []
    if wanted.turns:
        here = {turn.id: turn for turn in store.turns(ids=wanted.turns)}
        if missing := [id_ for id_ in wanted.turns if id_ not in here]:
            raise NotFound(
                f"there is no turn '{missing[0]}' in bank '{store.info.name}'; `everwhen show turns` lists them"
            )
        found |= here
    if wanted.session is not None:
        here = {turn.id: turn for turn in store.turns(session=wanted.session)}
        if not here:
            raise NotFound(f"there is no session '{wanted.session}'; `everwhen show sessions` lists them")
        found |= here
    if wanted.between is not None:
        found |= {turn.id: turn for turn in store.turns(between=wanted.between)}
    if wanted.entity is not None:
        mentioning, names = store.keep.turns_about(wanted.entity.id)
        naming = _naming(names)
        found |= {turn.id: turn for turn in store.turns(ids=mentioning)}
        # A parser misses a name now and then: whoever is to be forgotten is looked for by the words themselves.
        found |= {turn.id: turn for turn in store.turns() if naming(turn)}
    return list(found.values()), names


def _naming(names: Sequence[str]) -> Callable[[Turn], bool]:
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name.strip())
    pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if words else None
    return lambda turn: (
        pattern is not None and bool(pattern.search(turn.text) or pattern.search(turn.speaker))
    )


def affected(store: Store, turns: Sequence[Turn]) -> list[str]:
    """The turns that were extracted together with these: one batch before, and after them as far as extraction looks
    back."""
    ids = {turn.id for turn in turns}
    found: dict[str, None] = {}
    for turn in turns:
        for other in store.keep.around(turn, BATCH_TURNS, LOOK_BACK_TURNS + BATCH_TURNS):
            if other not in ids:
                found[other] = None
    return list(found)


def reembed_followers(
    embedder: Embedder, settings: Settings, followers: Sequence[Follower]
) -> list[ReembeddedTurn]:
    """The turns that follow a forgotten one, embedded again with the end of the turn that now comes before them."""
    contexts = [context_of(one.before, settings) for one in followers]
    texts = [spoken(one.turn, context, settings) for one, context in zip(followers, contexts, strict=True)]
    return [
        ReembeddedTurn(
            one.turn.id,
            one.before.id if one.before else None,
            context,
            made.vectors,
            VectorModel.of(embedder),
            made.codes,
        )
        for one, context, made in zip(followers, contexts, embed_spoken(embedder, texts), strict=True)
    ]


def refill_links(store: Store, unlinked: Mapping[int, int], link_similarity: float | None = None) -> None:
    """Find new neighbours for units that lost some, as if the removed ones had never been there. Each unit is given
    with how many neighbours in meaning it lost."""
    for some in in_batches(list(unlinked), LINKED_AT_ONCE):
        while not _mend_links(store, {unit: unlinked[unit] for unit in some}, link_similarity):
            pass  # the bank was re-embedded meanwhile: its new vectors are compared


def _mend_links(store: Store, unlinked: Mapping[int, int], link_similarity: float | None) -> bool:
    """False where the vectors are of another model by now."""
    model = store.info.model
    placed = store.keep.placed(list(unlinked))
    short = _shortened(store, {unit: lost for unit, lost in unlinked.items() if lost and unit in placed})
    vectors = store.keep.first_vectors(short) if short else {}
    similar: dict[int, Similar] = {}
    try:
        for kind in sorted({placed[unit] for unit in vectors}):
            mine = [unit for unit in vectors if placed[unit] == kind]
            some = np.stack([vectors[unit] for unit in mine])
            found = similar_units(store.graph, some, kind, model.embedder, link_similarity)
            similar |= {
                unit: [one for one in near if one[0] != unit] for unit, near in zip(mine, found, strict=True)
            }
        with store.graph.writing(model) as write:
            link_in_time(write, write.present(placed))
            link_in_meaning(write, similar)
    except (ModelChanged, ValueError):  # two widths cannot be multiplied
        store.refresh()
        if store.info.model == model:
            raise
        return False
    return True


def _shortened(store: Store, lost: Mapping[int, int]) -> list[int]:
    """The units whose list of neighbours in meaning was full: one that was not had all that there are."""
    left = (
        Counter(link.source for link in store.graph.neighbours(list(lost), ["semantic"]))
        if lost
        else Counter()
    )
    return [unit for unit, removed in lost.items() if left[unit] + removed >= SEMANTIC_MOST]


def finish(store: Store, receipt: Receipt, cache: CacheCleaner) -> Receipt:
    """Overwrite the removed bytes. If something prevents it, the receipt says so and the next process that opens the
    bank tries again."""
    cache.scrub()
    notes = [*receipt.notes, *cache.problems]
    if not store.jobs.scrubbing.run():
        notes.append(
            "another process reads the bank, so that old pages are still in its files; `everwhen bank doctor --fix` "
            "overwrites them when it has ended"
        )
    return replace(receipt, erased=not notes, notes=tuple(notes))


def _everything(
    store: Store, embedder: Embedder, settings: Settings, turns: Sequence[Turn], at: datetime, dry_run: bool
) -> Receipt:
    cache = CacheCleaner(store, embedder, settings)
    events = store.graph.events()
    facts = tuple(store.facts.ids())
    receipt = Receipt(
        at,
        dry_run,
        turns=tuple(turn.id for turn in turns),
        sessions=tuple(session.id for session in store.sessions()),
        events=tuple(event.id for event in events),
        facts=facts,
        entities=tuple(entity.id for entity in store.graph.entities()),
        nodes=tuple(node.place.id for node in store.tree.nodes()),
        vectors=store.stats().passages,
        links=store.stats().links,
    )
    if dry_run:
        return receipt
    dropped = _uncache(store, cache, turns)
    with store.keep.forgetting() as eraser:
        eraser.remember(receipt.turns, at)
        eraser.remove_everything()
    return finish(store, replace(receipt, cached=dropped), cache)


def clear_cache(store: Store, embedder: Embedder, settings: Settings) -> list[str]:
    """Drop what the cache has of a bank's texts, before its file goes; what stood in the way.

    Another bank that holds the same text has its vector in its own file, and only embeds it anew when it comes again.
    """
    cache = CacheCleaner(store, embedder, settings)
    _uncache(store, cache, list(store.turns()))
    cache.scrub()
    return cache.problems


def _uncache(store: Store, cache: CacheCleaner, turns: Sequence[Turn]) -> int:
    cache.drop_turns(turns, ())
    node_texts = [node.text for node in store.tree.nodes()]
    return cache.drop(
        [*node_texts, *(text for _, text in (*store.graph.derived_texts(), *store.facts.texts()))]
    )


def _emptied(store: Store, turns: Sequence[Turn]) -> tuple[str, ...]:
    """The sessions that have no other turn than these."""
    removed = {turn.id for turn in turns}
    sessions = dict.fromkeys(turn.session for turn in turns)
    return tuple(
        session for session in sessions if all(turn.id in removed for turn in store.turns(session=session))
    )
