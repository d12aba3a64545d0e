"""The words of time in six European languages; the grammar in `grammar.py` is shared by all of them."""

from __future__ import annotations

from dataclasses import dataclass, field


def _split(text: str) -> tuple[tuple[str, ...], ...]:
    """`"lunes | martes"` to alternatives in order; `a/b` are two spellings of one."""
    return tuple(tuple(part.strip().split("/")) for part in text.split("|"))


@dataclass(frozen=True)
class Table:
    """One language. Entries in order of the calendar, separated by `|`; spellings by `/`."""

    code: str
    months: str
    weekdays: str  # Monday first
    days: str  # day before yesterday | yesterday | today | tomorrow | day after tomorrow
    units: str  # second | minute | hour | day | week | month | year
    seasons: str  # spring | summer | autumn | winter
    numbers: str  # one to twelve
    last: str
    next: str
    this: str
    ago_before: str = ""  # "vor zwei Wochen"
    ago_after: str = ""  # "due settimane fa"
    ahead: str = ""  # "in zwei Wochen"
    within: str = ""  # prepositions that license a month, season or year
    on: str = ""  # prepositions and articles before a day
    of: str = ""
    since: str = ""
    until: str = ""
    since_when: str = ""
    start: str = ""  # "von ... bis"
    to: str = ""
    weekend: str = "weekend"
    parts: str = ""  # morning | afternoon | evening | night
    recently: str = ""
    few: str = ""
    early: str = ""
    late: str = ""
    cues: str = ""  # small words that tell the language where a time word is shared with English
    future: str = ""  # verbs that look ahead; without one a bare month or weekday lies behind
    phrases: dict[str, str] = field(default_factory=dict)  # fixed phrases: words -> an English expression

    def entries(self, name: str) -> tuple[tuple[str, ...], ...]:
        text = getattr(self, name)
        return _split(text) if text else ()

    def words(self, name: str) -> tuple[str, ...]:
        return tuple(word for spellings in self.entries(name) for word in spellings if word)


TABLES: tuple[Table, ...] = (
    Table(
        "de",
        "januar/jänner|februar|märz/maerz|april|mai|juni|juli|august|september|oktober|november|dezember",
        "montag|dienstag|mittwoch|donnerstag|freitag|samstag/sonnabend|sonntag",
        "vorgestern|gestern|heute|morgen|übermorgen/uebermorgen",
        "sekunde/sekunden|minute/minuten|stunde/stunden|tag/tage/tagen/tages|woche/wochen|monat/monate/monaten/monats|"
        "jahr/jahre/jahren/jahres",
        "frühling/frühjahr|sommer|herbst|winter",
        "ein/eine/einem/einer/einen|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf",
        last="letzte/letzten/letzter/letztes/letztem/vergangene/vergangenen/vergangenes/vergangener/vorige/vorigen/voriges/voriger",
        next="nächste/nächsten/nächster/nächstes/nächstem/kommende/kommenden/kommender/kommendes",
        this="diese/dieser/dieses/diesen/diesem",
        ago_before="vor",
        ahead="in",
        within="im/in/anfang",
        on="am/den/der/dem/an/vom",
        of="des/im/von",
        since="seit",
        until="bis",
        start="von/vom/zwischen/ab",
        to="bis/und/zum",
        weekend="wochenende",
        parts="früh/morgen/vormittag|nachmittag|abend|nacht",
        recently="kürzlich/neulich/letztens",
        few="paar/einige/einigen/wenige/wenigen",
        early="anfang",
        late="ende",
        future="werde/wird/werden/wirst/will/wollen",
        cues="im ich wir und der das ist habe haben mit nach vom bis seit dem eine nicht auf zum",
    ),
    Table(
        "es",
        "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre/setiembre|octubre|noviembre|diciembre",
        "lunes|martes|miércoles/miercoles|jueves|viernes|sábado/sabado|domingo",
        "anteayer/antier|ayer|hoy|mañana|",
        "segundo/segundos|minuto/minutos|hora/horas|día/días/dia/dias|semana/semanas|mes/meses|año/años",
        "primavera|verano|otoño|invierno",
        "un/una/uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce",
        last="pasado/pasada/pasados/pasadas/último/última",
        next="próximo/próxima/próximos/próximas/proximo/proxima",
        this="este/esta",
        ago_before="hace",
        ago_after="atrás",
        ahead="en/dentro",
        within="en/durante/del/de",
        on="el/los/al",
        of="de/del",
        since="desde",
        until="hasta",
        start="de/desde/entre/del",
        to="a/hasta/y/al",
        weekend="finde",
        parts="mañana|tarde|noche|madrugada",
        recently="recientemente/últimamente",
        few="pocos/pocas/unos/unas/algunos/algunas",
        future="voy/vamos/va/van/iré/iremos/será/quiero",
        cues="en el la los las una que con por para fui hace desde hasta del mi estuve",
        phrases={"fin de semana": "weekend", "anoche": "last night"},
    ),
    Table(
        "fr",
        "janvier|février/fevrier|mars|avril|mai|juin|juillet|août/aout|septembre|octobre|novembre|décembre/decembre",
        "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
        "|hier|aujourd'hui|demain|",
        "seconde/secondes|minute/minutes|heure/heures|jour/jours|semaine/semaines|mois|an/ans/année/années",
        "printemps|été|automne|hiver",
        "un/une|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze",
        last="dernier/dernière/derniers/dernières/passé/passée",
        next="prochain/prochaine/prochains/prochaines",
        this="ce/cet/cette",
        ahead="dans",
        within="en/au/d'/l'/de/pendant",
        on="le/les/au",
        of="de/d'/du",
        since="depuis",
        until="jusqu'en/jusqu'au/jusqu'à/jusque",
        start="de/du/entre/d'",
        to="à/au/et/a",
        weekend="weekend",
        parts="matin/matinée|aprèm|soir/soirée|nuit",
        recently="récemment/dernièrement",
        few="quelques",
        early="début",
        late="fin",
        future="vais/allons/va/vont/irai/irons/sera/serons/veux",
        cues="le la les en au je nous il elle est et dans avec pour depuis du des une mon",
        phrases={
            "week - end": "weekend", "après - midi": "afternoon", "avant - hier": "day before yesterday",
            "après - demain": "day after tomorrow",
        },
    ),
    Table(
        "it",
        "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
        "lunedì/lunedi|martedì/martedi|mercoledì/mercoledi|giovedì/giovedi|venerdì/venerdi|sabato|domenica",
        "l'altroieri/altroieri|ieri|oggi|domani|dopodomani",
        "secondo/secondi|minuto/minuti|ora/ore|giorno/giorni|settimana/settimane|mese/mesi|anno/anni",
        "primavera|estate|autunno|inverno",
        "un/una/uno|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici",
        last="scorso/scorsa/scorsi/scorse/passato/passata/ultimo/ultima",
        next="prossimo/prossima/prossimi/prossime",
        this="questo/questa/quest'",
        ago_after="fa",
        ahead="tra/fra",
        within="in/a/nel/d'/nell'/durante/dell'/del/di",
        on="il/lo/al/l'",
        of="di/del/dell'",
        since="da/dal",
        until="fino",
        start="da/dal/tra/fra",
        to="a/al/e",
        weekend="weekend",
        parts="mattina/mattino|pomeriggio|sera|notte",
        recently="recentemente/ultimamente",
        few="qualche/pochi/poche/alcuni/alcune",
        early="inizio",
        late="fine",
        future="andrò/andremo/sarà/vado/andiamo/faremo/farò/voglio",
        cues="il la le gli una che con sono è di del nel mia mio abbiamo ho fa dal della",
        phrases={
            "fine settimana": "weekend", "stamattina": "this morning", "stasera": "this evening",
            "stanotte": "tonight", "l'altro ieri": "day before yesterday",
            "avantieri": "day before yesterday",
        },
    ),
    Table(
        "pt",
        "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
        "segunda|terça|quarta|quinta|sexta|sábado|domingo",
        "anteontem|ontem|hoje|amanhã|",
        "segundo/segundos|minuto/minutos|hora/horas|dia/dias|semana/semanas|mês/meses|ano/anos",
        "primavera|verão|outono|inverno",
        "um/uma|dois/duas|três|quatro|cinco|seis|sete|oito|nove|dez|onze|doze",
        last="passado/passada/passados/passadas/último/última",
        next="próximo/próxima/próximos/próximas",
        this="este/esta/neste/nesta/deste/desta/esse/essa/nesse/nessa",
        ago_before="há/faz",
        ago_after="atrás",
        ahead="em/daqui",
        within="em/no/na/durante/de/do",
        on="no/na/o/dia/em",
        of="de/do",
        since="desde",
        until="até",
        start="de/desde/entre/do",
        to="a/até/e/ao",
        weekend="finde",
        parts="manhã|tarde|noite|madrugada",
        recently="recentemente/ultimamente",
        few="poucos/poucas/alguns/algumas",
        future="vou/vamos/vai/vão/irei/será/quero",
        cues="em na os uma que com por para fui é desde até da meu minha há",
        phrases={"fim de semana": "weekend", "ontem à noite": "last night"},
    ),
    Table(
        "nl",
        "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december",
        "maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
        "eergisteren|gisteren|vandaag|morgen|overmorgen",
        "seconde/seconden|minuut/minuten|uur/uren|dag/dagen|week/weken|maand/maanden|jaar/jaren",
        "lente/voorjaar|zomer|herfst/najaar|winter",
        "een/één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf",
        last="vorige/vorig/afgelopen/verleden",
        next="volgende/volgend/komende/aanstaande",
        this="deze/dit",
        ago_after="geleden",
        ahead="over",
        within="in/tijdens",
        on="op/de",
        of="van",
        since="sinds/vanaf",
        until="tot",
        start="van/tussen",
        to="tot/en/t/m",
        weekend="weekend",
        parts="ochtend|middag|avond|nacht",
        recently="onlangs/laatst",
        few="paar/enkele",
        early="begin",
        late="eind/einde",
        future="zal/zullen/ga/gaan/gaat/wil",
        cues="de het een ik wij zijn en van op heb heeft hebben naar voor sinds niet mijn",
        phrases={
            "gisteravond": "last night", "vanavond": "this evening", "vanochtend": "this morning",
            "vanmiddag": "this afternoon", "vannacht": "tonight",
        },
    ),
)  # fmt: skip
