"""Other languages: a data file each, common expressions as intervals, no word taken for a time that is none."""

from __future__ import annotations

import inspect
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen_bench.timex import days
from everwhen_time import constraint, resolve
from everwhen_time.cycles import Cycle
from everwhen_time.grammar import book_of, meaning_of
from everwhen_time.language import DATA, ONLY_ENGLISH, InEnglish, codes, language
from everwhen_time.parser import MARK, expand
from tests.everwhen_time.test_docs_time import language_rows

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


def found_in(text: str, languages: tuple[str, ...] | None = None, **options: object) -> list[str]:
    found = resolve(text, NOW, languages=languages, **options)  # type: ignore[arg-type]
    return ["/".join(side or ".." for side in days(ref.interval)) for ref in found if ref.interval]


@pytest.mark.parametrize(("code", "text", "wanted"), language_rows(), ids=[row[1] for row in language_rows()])
def test_a_row_of_the_language_table_holds(code: str, text: str, wanted: str) -> None:
    for languages in (None, (code,)):
        assert found_in(text, languages) == [wanted]


def test_every_promised_language_has_rows_and_a_data_file() -> None:
    promised = {"de", "es", "fr", "it", "pt", "nl", "ru", "zh", "ja"}
    assert {row[0] for row in language_rows()} == promised == set(codes())


def test_a_language_that_was_not_asked_for_is_not_read() -> None:
    assert resolve("Das war gestern.", NOW, languages=("en",)) == []
    assert resolve("We met yesterday.", NOW, languages=("de",)) == []


# Spelling


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("la semaine derniere", "2023-05-01/2023-05-08"),
        ("LA SEMAINE DERNIÈRE", "2023-05-01/2023-05-08"),
        ("manana", "2023-05-11/2023-05-12"),
        ("naechste Woche", "2023-05-15/2023-05-22"),
        ("NÄCHSTE WOCHE", "2023-05-15/2023-05-22"),
        ("２０２１年５月３日", "2021-05-03/2021-05-04"),
        ("de\u0301but mai 2021", "2021-05-01/2021-05-11"),
        ("Il est né le 12 févr. 1999.", "1999-02-12/1999-02-13"),
        ("30 Dic 2020", "2020-12-30/2020-12-31"),
    ],
)
def test_accents_case_and_abbreviations_do_not_matter(text: str, wanted: str) -> None:
    assert found_in(text) == [wanted]


def test_an_accent_that_makes_another_word_matters() -> None:
    assert found_in("Mayo está lejos.") == found_in("El 3 de mayo está lejos.")[1:] == []
    assert found_in("esta semana") == ["2023-05-08/2023-05-15"]


def test_numbers_are_read_in_the_order_of_the_language() -> None:
    assert found_in("la reunión del 3/5/2018") == ["2018-05-03/2018-05-04"]
    assert found_in("the meeting on 3/5/2018") == ["2018-03-05/2018-03-06"]
    assert found_in("11.08", day_first=True, tense="future") == ["2023-08-11/2023-08-12"]
    assert found_in("11.08") == []


# Which language


def test_each_sentence_of_a_text_has_its_own_language() -> None:
    text = "Gestern war ich krank. Yesterday I was fine. Mañana vamos al cine. On se voit vendredi prochain !"
    assert found_in(text) == [
        "2023-05-09/2023-05-10",
        "2023-05-09/2023-05-10",
        "2023-05-11/2023-05-12",
        "2023-05-19/2023-05-20",
    ]


def test_a_word_of_two_languages_is_read_in_the_one_that_is_spoken() -> None:
    assert found_in("hier") == found_in("Hier il pleuvait.") == ["2023-05-09/2023-05-10"]
    assert found_in("Ich bin hier und warte auf dich.") == []
    assert found_in("Morgen komme ich.") == found_in("Morgen kom ik.") == ["2023-05-11/2023-05-12"]


@pytest.mark.parametrize(
    "text",
    [
        "Il a été malade et n'a pas mangé.",
        "La fusée vole vers Mars sans équipage.",
        "Guten Morgen, liebe Leute!",
        "Frau Mai hat angerufen.",
        "Die Fliege Mai ist ein Gedicht.",
        "É a segunda vez que você pergunta.",
        "A quinta dos meus avós é linda.",
        "Santo Domingo es la capital.",
        "Julio y Abril son mis primos.",
        "Buenas tardes, señora.",
        "La mañana es fresca.",
        "Va tutto bene, alla fine ce la facciamo.",
        "Vivo in via Venti Settembre.",
        "La rue du 4-Septembre est fermée.",
        "Mevrouw De Winter belt u terug.",
        "Goedemorgen, meneer Zomer!",
        "В этой среде живут бактерии.",
        "Улица 8 Марта закрыта.",
        "我一点也不喜欢这个。",
        "春卷和秋葵都很好吃。",
        "明日香さんは元気です。",
        "Version 3.11.17 ist da.",
        "Das kostet 27,50 Euro, nicht 3.50.",
        "Appelle le 06 12 34 56 78.",
        "Capítulo 3, página 12.",
        "¡Feliz Navidad a todos!",
        "un lunes cualquiera",
    ],
)
def test_ordinary_words_and_names_are_no_times(text: str) -> None:
    assert found_in(text) == []


def test_the_words_that_are_only_english_are_in_no_data_file() -> None:
    for code in codes():
        told = language(code)
        assert ONLY_ENGLISH.isdisjoint(told.cues | told.signals | set(told.senses)), code


def test_what_comes_round_has_a_rule_and_no_interval() -> None:
    for text in (
        "jeden Montag",
        "cada lunes",
        "chaque lundi",
        "ogni lunedì",
        "elke maandag",
        "каждый понедельник",
    ):
        (found,) = resolve(text, NOW)
        assert (found.interval, str(found.recurrence)) == (None, "FREQ=WEEKLY;BYDAY=MO")


# Questions


@pytest.mark.parametrize(
    ("question", "hard", "order", "relation", "anchor", "count"),
    [
        ("Wie oft war ich im April schwimmen?", True, None, None, None, True),
        ("Was habe ich vor 2015 gemacht?", True, None, None, None, False),
        ("Was geschah zwei Tage nach der Hochzeit?", False, None, "after", "der Hochzeit", False),
        ("Wann war ich zuletzt in Rom?", False, "last", None, None, False),
        ("¿Cuántas veces nadé en abril?", True, None, None, None, True),
        ("¿Qué hice antes de mudarme?", False, None, "before", "mudarme", False),
        ("Qu'ai-je fait après mes vacances ?", False, None, "after", "mes vacances", False),
        ("Quand suis-je allé à Rome pour la première fois ?", False, "first", None, None, False),
        ("Cosa ho fatto prima di trasferirmi?", False, None, "before", "trasferirmi", False),
        ("Onde morei entre março e maio?", True, None, None, None, False),
        ("Wat deed ik voordat ik verhuisde?", False, None, "before", "ik verhuisde", False),
        ("Сколько раз я плавал в апреле?", True, None, None, None, True),
        ("我搬家之前住在哪里？", False, None, "before", "搬家", False),
        ("4月に何回泳ぎましたか？", True, None, None, None, True),
    ],
)
def test_a_question_is_understood_in_its_language(
    question: str, hard: bool, order: str | None, relation: str | None, anchor: str | None, count: bool
) -> None:
    asked = constraint(question, NOW)
    assert asked is not None
    assert (asked.hard, asked.order, asked.relation, asked.anchor, asked.count) == (
        hard, order, relation, anchor, count,
    )  # fmt: skip


def test_how_far_from_an_event_is_told_in_words() -> None:
    asked = constraint("Was geschah zwei Tage nach der Hochzeit?", NOW)
    assert asked is not None and str(asked.distance) == "P2D"


def test_a_question_without_a_time_has_no_constraint_in_any_language() -> None:
    for text in (
        "Wie heißt mein Hund?",
        "¿Cómo se llama mi perro?",
        "Comment s'appelle mon chien ?",
        "我的狗叫什么？",
    ):
        assert constraint(text, NOW) is None


# The data files


def test_every_meaning_told_in_english_is_understood() -> None:
    for code in codes():
        for word, senses in language(code).senses.items():
            for category, value, _ in senses:
                if isinstance(value, InEnglish):
                    meaning = meaning_of(value.expression)
                    assert category != "<cycle>" or isinstance(meaning, Cycle), (code, word)


def test_a_language_is_one_data_file(tmp_path: Path) -> None:
    """Danish in a few lines, put beside the others."""
    for path in DATA.glob("*.toml"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    danish = """
day_first = true
cues = "jeg var og det en et er ikke vi til på"
months = "januar | februar | marts | april | maj | juni | juli | august | september | oktober | november | december"
weekdays = "mandag | tirsdag | onsdag | torsdag | fredag | lørdag | søndag"
numbers = "en et | to | tre"
last = "sidste"
ago_after = "siden"
past = "var"
[units]
day = "dag / dage"
week = "uge / uger"
[days]
i_går = "yesterday"
"""
    (tmp_path / "da.toml").write_text(danish.replace("i_går =", '"i_går" ='), encoding="utf-8")
    program = f"""
from datetime import UTC, datetime
from pathlib import Path
from everwhen_time import resolve
from everwhen_time import language
language.DATA = Path({str(tmp_path)!r})
now = datetime(2023, 5, 10, tzinfo=UTC)
found = resolve("I går var jeg syg. Det var den 3. maj 2021. For to dage siden.", now)
days = [str(ref.interval.start.date()) for ref in found]
assert days == ["2023-05-09", "2021-05-03", "2023-05-08"], days
"""
    subprocess.run([sys.executable, "-c", program], check=True)


WORDS = sorted(
    {word for code in codes() for word in language(code).senses}
    | {word for code in codes() for word in book_of(code).vocabulary if not word.startswith("<")}
    | {
        "3",
        "31",
        "2020",
        "98",
        "'90",
        "3/5",
        "27.11.",
        "11.08",
        "10:30",
        "9h30",
        "1º",
        "15e",
        "90er",
        "29/2",
        "5年",
    }
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), max_size=12),
    st.sampled_from([" ", ""]),
    st.sampled_from([datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC), NOW]),
)
def test_no_mixture_of_their_words_raises(words: list[str], joint: str, at: datetime) -> None:
    text = joint.join(words)
    for found in resolve(text, at):
        assert text[slice(*found.span)] == found.text
    constraint(text, at)


# Cost

LONG = {
    "de": "Wir sind letzten Samstag mit meiner Schwester und ihren Kindern in das kleine Museum am Bahnhof gegangen.",
    "es": "El sábado pasado fuimos con mi hermana y sus hijos al pequeño museo que está cerca de la estación.",
    "fr": "Samedi dernier nous sommes allés avec ma sœur et ses enfants au petit musée près de la gare du centre.",
    "it": "Sabato scorso siamo andati con mia sorella e i suoi bambini al piccolo museo vicino alla stazione.",
    "pt": "No sábado passado fomos com a minha irmã e os filhos dela ao pequeno museu perto da estação.",
    "nl": "Afgelopen zaterdag zijn we met mijn zus en haar kinderen naar het kleine museum bij het station gegaan.",
    "ru": "В прошлую субботу мы с сестрой и её детьми ходили в маленький музей рядом с вокзалом и парком.",
    "zh": "上周六我们和我姐姐还有她的孩子们去了车站附近的小博物馆，大家都很喜欢那里的展览。",
    "ja": "先週の土曜日に姉と子供たちと一緒に駅の近くの小さな博物館に行って、とても楽しかったです。",
}


@pytest.mark.parametrize("code", sorted(LONG))
def test_a_sentence_takes_well_under_a_millisecond(code: str) -> None:
    laps = []
    for _ in range(60):
        begin = time.process_time_ns()
        assert resolve(LONG[code], NOW)
        laps.append((time.process_time_ns() - begin) / 1e6)
    assert statistics.median(laps) < 1.5  # docs/performance.md has 0.26; slow runners are given room


def test_plain_english_loads_neither_data_files_nor_dateparser_nor_holidays() -> None:
    program = (
        "import sys, datetime; from everwhen_time import constraint, resolve;"
        "now = datetime.datetime(2023, 5, 10, tzinfo=datetime.UTC);"
        "assert resolve('We met last Friday and on Christmas 2021.', now);"
        "assert constraint('What did I do before Easter?', now);"
        "loaded = {'dateparser', 'holidays', 'spacy', 'numpy'} & set(sys.modules);"
        "assert not loaded, loaded;"
        "from everwhen_time.language import language;"
        "assert language.cache_info().currsize == 1  # English"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# Further languages, through dateparser


def test_a_further_language_can_be_named_by_the_caller() -> None:
    (found,) = resolve("Han blev født 12 maj 1999.", NOW, languages=("da",))
    assert found.rule == ("dateparser",)
    assert found.interval is not None and days(found.interval) == ("1999-05-12", "1999-05-13")


def test_dateparser_still_answers_as_we_rely_on() -> None:
    """Public interface only: a change of it fails here, not in somebody's memory."""
    from dateparser.date import DateDataParser

    options = {"REQUIRE_PARTS": ["day", "month"], "PARSERS": ["absolute-time"], "DATE_ORDER": "DMY"}
    data = DateDataParser(languages=["fr"], settings=options).get_date_data("12 févr. 1999")
    assert (data.date_obj, data.period) == (datetime(1999, 2, 12), "day")
    assert DateDataParser(languages=["fr"], settings=options).get_date_data("février 1999").date_obj is None


@pytest.mark.parametrize("code", ("en", *codes()))
def test_every_word_order_gives_its_rule_the_values_that_it_takes(code: str) -> None:
    """A phrase that matches an order with a value too many would make reading a message fail."""
    joining = {
        category
        for one in codes()
        for senses in language(one).senses.values()
        for category, value, _ in senses
        if value is MARK
    }
    book = book_of(code)
    assert joining <= book.joining
    for rule in book.rules:
        for form in expand(rule.pattern):
            values = [part for part in form if part.startswith("<") and part not in book.joining]
            inspect.signature(rule.make).bind(*values)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Wir treffen uns jeden zweiten Freitag.", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
        ("Wir fahren jedes dritte Wochenende hin.", "FREQ=WEEKLY;INTERVAL=3;BYDAY=SA,SU"),
        ("Er kommt jeden dritten Tag vorbei.", "FREQ=DAILY;INTERVAL=3"),
        ("Wir treffen uns jeden zweiten Freitag im Monat.", "FREQ=MONTHLY;BYDAY=2FR"),
        ("Ci vediamo ogni secondo venerdì.", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
        ("Nous nous voyons chaque deuxième vendredi.", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
    ],
)
def test_every_second_one_is_told_as_such(text: str, rule: str) -> None:
    [found] = resolve(text, NOW)
    assert found.recurrence is not None
    assert found.recurrence.rule == rule


def test_a_part_of_a_day_and_a_clock_are_joined_by_a_particle() -> None:
    [found] = resolve("明日の朝の8時に会う", NOW)
    assert found.interval is not None
    assert found.interval.start == datetime(2023, 5, 11, 8, tzinfo=UTC)


@pytest.mark.parametrize("text", ["Sept 30th", "Moving Sept 30th.", "sept 14"])
def test_the_month_that_is_a_number_in_french_is_a_month(text: str) -> None:
    [found] = resolve(text, NOW)
    assert found.interval is not None and found.interval.start is not None
    assert found.interval.start.month == 9


def test_seven_in_french_is_a_number_still() -> None:
    assert found_in("Il y a sept jours nous avons dîné ensemble.") == ["2023-05-03/2023-05-04"]


def test_my_in_french_is_no_monday() -> None:
    assert found_in("mon anniversaire le 3 mai") == ["2024-05-03/2024-05-04"]
