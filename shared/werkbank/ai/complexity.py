"""How demanding a question is, told by rules from its words (AG-18). German and English; no model is asked.

Only positive signs make a question simple: what is not recognised gets a model that can cope with it.
"""

import re

from werkbank.domain.runs import Complexity

# Beyond these a question has more in it than one thing to look up.
_SHORT_WORDS = 40
_LONG_WORDS = 120
_MANY_QUESTIONS = 3
_MANY_FILES = 4
# Where the request itself stands when a long text to work on comes with it.
_HEAD_WORDS = 20
_FEW_WORDS = 6
_END_CHARACTERS = 2_000
_GREETING_CHARACTERS = 100

# Read with case, umlauts and ß spelt out (`pruef`): people write both.
_SPELT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def _any_of(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b")


# Operations that take several steps of thought, as a verb asks for them.
_DEMANDING = _any_of(
    r"vergleich(?:e|en|st|t)", r"verglichen", r"gegenueber ?(?:zu)?stell\w*", r"stell\w*\b.{1,80}\bgegenueber",
    r"analysier\w*", r"plane?n?(?= (?:mir|uns|die|den|das|eine?n?|wie)\b)", r"berechn(?:e|en|est|et)", r"kalkulier\w*",
    r"rechne\b.{1,80}\b(?:aus|durch|vor|nach)", r"pruefe?n?", r"ueberpruef\w*", r"bewert(?:e|en|et)", r"beurteil\w*",
    r"begruend(?:e|en|et)", r"optimier\w*", r"priorisier\w*", r"schaetz(?:e|en)\b.{0,40}\b(?:ab|ein)",
    r"entw(?:irf|erfe|erfen)",
    r"entwick(?:le|eln|elst)", r"konzipier\w*", r"plausibilisier\w*", r"widersprueche", r"vor- und nachteile",
    r"abwaeg\w*", r"waeg\w*\b.{1,80}\bab", r"leite\w*\b.{1,80}\b(?:ab|her)", r"beweis(?:e|en)", r"schritt fuer schritt",
    r"simulier\w*", r"prognostizier\w*", r"programmier\w*", r"implementier\w*", r"gleiche?n?\b.{1,80}\bab",
    r"compare", r"comparing", r"contrast", r"analy[sz]e[sd]?", r"analy[sz]ing", r"calculat(?:e|ing)", r"compute",
    r"evaluat(?:e|ing)", r"assess", r"estimate", r"forecast", r"optimi[sz]e", r"prioriti[sz]e", r"reconcile", r"review",
    r"plan (?:a|an|the|my|our|out|how)", r"work out", r"figure out", r"weigh", r"pros and cons", r"trade-?offs?",
    r"step by step", r"root cause", r"inconsistenc(?:y|ies)", r"contradict\w*", r"implement", r"refactor", r"debug",
    r"prove", r"derive", r"audit", r"draft a (?:strategy|concept|plan)",
)  # fmt: skip
# The same as things: a request to make one, unless it is only asked where one is, or who wrote it.
_DEMANDING_THINGS = _any_of(
    r"\w*vergleich", r"\w*analysen?", r"\w*berechnung(?:en)?", r"\w*bewertung(?:en)?", r"\w*beurteilung", r"strategie",
    r"\w*konzept", r"\w*(?:projekt|zeit|mass?nahmen|finanz|liquiditaets)plan", r"prognose", r"gutachten",
    r"comparison", r"analysis", r"calculation", r"evaluation", r"assessment", r"strategy", r"(?:project|action) plan",
)  # fmt: skip
# Operations on what is there: one pass, but words of one's own.
_MODERATE = _any_of(
    r"fasse?\b.{1,80}\bzusammen", r"zusammenfass\w*", r"erklaer\w*", r"erlaeuter\w*", r"beschreib\w*", r"warum",
    r"weshalb", r"wieso", r"schreib\w*", r"verfass\w*", r"formulier\w*", r"entscheid\w*", r"empfiehl\w*", r"empfehl\w*",
    r"unterschied\w*", r"auswirk\w*", r"folgen", r"soll(?:te)?n? (?:ich|wir|man)", r"besser",
    r"summ?ari[sz]e", r"summary", r"explain", r"describe", r"why", r"write", r"rewrite", r"draft", r"recommend\w*",
    r"differences?", r"implications?", r"consequences", r"should (?:i|we)", r"better", r"how (?:do|does|can|could) ",
)  # fmt: skip
_LOOKUP = _any_of(
    r"wann", r"wer", r"wem", r"wen", r"wo", r"wohin", r"woher", r"wieviele?", r"welche[nmrs]?", r"gibt es", r"oeffne",
    r"wie (?:viele?n?|hoch|lange|gross|alt|heiss(?:t|en)|lautet|spaet|oft|teuer)", r"wie ist (?:die|der|das)",
    r"was (?:ist|sind|kostet|steht|bedeutet|heisst)", r"nenn(?:e|en)?", r"zeig(?:e|en)?", r"liste?n?", r"such(?:e|en)?",
    r"finde?n?",
    r"when", r"who", r"whose", r"where", r"which", r"how (?:many|much|long|old|high|big|often)",
    r"what(?: i|')s", r"what (?:are|was|were|does|did|time|date|day)", r"list", r"show(?: me)?", r"find", r"look up",
    r"is there", r"are there", r"give me",
)  # fmt: skip
_TRANSLATION = _any_of(
    r"uebersetz\w*", r"translate", r"translation of", r"auf (?:englisch|deutsch|franzoesisch|italienisch)"
)
_GREETING = re.compile(
    r"^(?:(?:hallo|hoi|gruezi|gruess gott|guten (?:tag|morgen|abend)|salue?|hi|hello|hey"
    r"|good (?:morning|evening|afternoon)"
    r"|danke|vielen dank|merci|besten dank|thanks|thank you|super|perfekt|perfect|great|tschuess|bye|zusammen|there"
    r"|very much|so much|schoen|vielmals|werkbank)[\s,.!?]*)+$"
)
_CODE = re.compile(
    r"```|^\s*(?:def |class |function |import |from \w+ import |public |const |let |#include|select .{1,200} from )"
    r"|[;{}]\s*$.*^.*[;{}]\s*$|traceback \(most recent",
    re.MULTILINE | re.DOTALL,
)
_STEP = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•]|[a-z]\))\s+\S", re.MULTILINE)


def complexity_of(question: str, file_count: int = 0, earlier: str = "") -> Complexity:
    """Return the class of a question about that many files; one that only says “go on” is as hard as the `earlier` one.

    Deterministic, about a tenth of a millisecond.
    """
    words = question.split()
    # A request stands before its material or after it.
    ends = (
        question if len(question) <= 2 * _END_CHARACTERS else question[:_END_CHARACTERS] + question[-_END_CHARACTERS:]
    )
    text = ends.casefold().translate(_SPELT).strip()
    if _GREETING.match(text[:_GREETING_CHARACTERS]):
        return "simple"
    head = " ".join(text.split()[:_HEAD_WORDS])
    if _TRANSLATION.search(head) and not _DEMANDING.search(head.partition(":")[0]):
        # What stands below is material, whatever words are in it.
        return "simple" if len(words) <= _LONG_WORDS else "moderate"
    if _is_complex(text, words, head, file_count):
        return "complex"
    if _is_simple(text, words, file_count):
        return "simple"
    if earlier and goes_on(question):
        return complexity_of(earlier, file_count)
    return "moderate"


def goes_on(question: str) -> bool:
    """Tell whether a question is too short to say what it is about: it goes on with the one before it."""
    return len(question.split()) <= _FEW_WORDS and not _MODERATE.search(question.casefold().translate(_SPELT))


def _is_complex(text: str, words: list[str], head: str, file_count: int) -> bool:
    return (
        len(words) > _LONG_WORDS
        or file_count >= _MANY_FILES
        or text.count("?") >= _MANY_QUESTIONS
        or len(_STEP.findall(text)) >= _MANY_QUESTIONS
        or bool(_CODE.search(text))
        or bool(_DEMANDING.search(text))
        or (bool(_DEMANDING_THINGS.search(text)) and not _LOOKUP.search(head))
    )


def _is_simple(text: str, words: list[str], file_count: int) -> bool:
    return (
        len(words) <= _SHORT_WORDS
        and file_count <= 1
        and text.count("?") <= 1
        and bool(_LOOKUP.search(text))
        and not _MODERATE.search(text)
    )
