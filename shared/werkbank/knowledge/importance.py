"""How important what a user says is to their later questions: by rule, in German and English, without a model (AG-17).

The weightiest sentence decides. Whoever says “merke dir …” decides alone: everything else stays below `ALWAYS`. Pasted
material is not what its user says, so of a long message only the ends count, and quoted lines never do.
"""

import re

from werkbank.documents.sentences import split_sentences
from werkbank.knowledge.entities import names_any

# From here on a memory is told always.
ALWAYS = 0.9
# From here on a memory is a fact about the user that is worth telling unasked.
NOTABLE = 0.6
# Below, a memory is small talk: it is kept with its score and never told again.
WORTHLESS = 0.15

_EXPLICIT, _HIGHEST_IMPLICIT = 1.0, 0.85
_STATEMENT, _QUESTION, _HIGHEST_QUESTION, _SMALL_TALK = 0.3, 0.2, 0.4, 0.05
_LONGEST_SAID, _END_CHARACTERS = 1_500, 500


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_REMEMBER = _any(
    r"\bmerke? (?:dir|euch|es dir|dir's)\b", r"\bmerken sie sich\b", r"\b(?:dir|sich|euch)\b.{0,60}\bmerken\b",
    r"\bbehalte?\b.{0,60}\b(?:im (?:kopf|gedächtnis|hinterkopf)|in erinnerung)\b", r"\bnotiere? dir\b",
    r"\bvergiss (?:bitte )?(?:nicht|nie)\b", r"\bvergessen sie (?:bitte )?(?:nicht|nie)\b",
    r"\bdenke? (?:bitte )?(?:immer |stets )?daran\b", r"\b(?:nicht|nie) vergessen\b",
    r"\bremember\b(?=:| that\b| this\b| my\b| our\b| the\b| to\b| i\b| we\b)", r"\b(?:please|always) remember\b",
    r"\b(?:keep|bear)\b.{0,40}\bin mind\b", r"\b(?:don'?t|do not|never) forget\b", r"\bmake a note\b",
    r"\bmemori[sz]e\b", r"\bfor future reference\b", r"\b(?:please )?note (?:that|down)\b",
)  # fmt: skip
# Talking about memory, or asking for none, is no order to remember.
_NOT_REMEMBER = _any(
    r"\b(?:do|did|does|can|could) you (?:still )?remember (?:what|when|where|who|how|which|if|the|my|our|i|we)\b",
    r"\bi (?:(?:don'?t|do not|can'?t|cannot|can|still) )?remember\b", r"\b(?:don'?t|do not|never|not) remember\b",
    r"\b(?:don'?t|do not|need not|needn'?t) (?:have to |need to )?(?:remember|keep|memori[sz]e)\b",
    r"\bmerke? (?:dir|euch) (?:das |dies |es )?(?:bitte )?nicht\b", r"\bnicht (?:zu )?merken\b",
    r"\b(?:habe?|hast|hat|haben|wie kann|wie soll) (?:ich|du|er|sie|wir)\b.{0,40}\b(?:gemerkt|merken)\b",
    r"\bich\b.{0,40}\bmir\b.{0,40}\bmerken\b",
)  # fmt: skip

_SIGNALS: tuple[tuple[float, re.Pattern[str]], ...] = (
    (0.35, _any(  # preferences and standing wishes
        r"\bich (?:bevorzuge|mag|möchte|will|hätte gerne?|brauche) (?:immer|nie|lieber|keine?|künftig|stets)\b",
        r"\bich bevorzuge\b", r"\blieber (?:als|auf|in|mit|ohne)\b", r"\bmir ist wichtig\b",
        r"\b(?:bitte |antworte |schreib(?:e)? |verwende )(?:mir |bitte )?(?:immer|stets|nie(?:mals)?|künftig)\b",
        r"\b(?:ab (?:sofort|jetzt|heute)|in zukunft|künftig|von nun an|grundsätzlich)\b",
        r"\bi (?:(?:would|'d) )?(?:always |never |strongly )?prefer\b", r"\bi(?:'d| would) rather\b",
        r"\bi (?:always|never) want\b", r"\b(?:from now on|in future|in the future|going forward|by default)\b",
        r"\b(?:please |answer |reply |write |use )(?:me )?(?:always|never)\b", r"\balways (?:use|write|answer|reply)\b",
        r"\bmy preference\b", r"\bit is important (?:to me|that)\b",
    )),
    (0.35, _any(  # decisions
        r"\b(?:wir|ich) (?:haben|habe|hatten)\b.{0,80}\b(?:entschieden|beschlossen|vereinbart|festgelegt|abgemacht)\b",
        r"\b(?:wurde|ist|sind)\b.{0,80}\b(?:beschlossen|entschieden|vereinbart|genehmigt|abgemacht)\b",
        r"\b(?:unser|mein|der) (?:entscheid|entschluss|beschluss)\b", r"\bentscheidung:",
        r"\b(?:we|i)(?:'ve| have)?\b.{0,20}\b(?:decided|agreed|settled on|chosen)\b", r"\bdecision:",
        r"\b(?:was|is|has been) (?:decided|agreed|approved)\b", r"\bwe (?:will|are going to) go with\b",
    )),
    (0.3, _any(  # who somebody is
        r"\bich (?:heisse|heiße|bin (?:die|der|das|für|bei|zuständig|verantwortlich))\b", r"\bmein name ist\b",
        r"\b(?:unsere?|meine?)\b.{0,50}\b(?:heisst|heißt|ist|sind|lautet|arbeitet|sitzt)\b",
        r"\bwir sind (?:eine?|die|das|in|bei)\b", r"\bmy name is\b",
        r"\bi(?:'m| am) (?:the|a|an|responsible|in charge)\b",
        r"\bi work (?:for|at|as|in)\b", r"\b(?:our|my)\b.{0,50}\b(?:is|are|works|sits|called|named)\b",
        r"\bwe are (?:an?|the|based)\b",
    )),
    (0.2, _any(  # deadlines
        r"\b(?:frist|abgabetermin|stichtag|deadline|fällig|spätestens|due (?:date|on|by|in)|no later than)\b",
        r"\bbis (?:zum |ende |am |spätestens |nächsten? |morgen|montag|dienstag|mittwoch|donnerstag|freitag|\d)",
        r"\bby (?:the end|next|tomorrow|monday|tuesday|wednesday|thursday|friday|january|february|march|april|may|june"
        r"|july|august|september|october|november|december|\d)",
    )),
    (0.1, re.compile(  # people
        r"\b(?:Herrn?|Frau|Dr\.|Mr\.?|Mrs\.?|Ms\.?)\s[A-ZÄÖÜ]\w+|\b[A-ZÄÖÜ][a-zäöüß]+ [A-ZÄÖÜ][a-zäöüß]+\b"
    )),
)  # fmt: skip
_QUESTION_START = _any(
    r"\A\W*(?:was|wer|wen|wem|wie|wo|wann|warum|wieso|weshalb|welche[rsnm]?|woher|wohin|wozu|wieviel|kannst|könntest"
    r"|können|könnten|hast|haben|gibt|ist|sind|what|who|whom|how|where|when|why|which|can|could|do|does|did|is|are"
    r"|fasse?|erkläre?|zeige?|liste|suche?|finde|übersetze?|vergleiche?|summari[sz]e|explain|show|list|find|search"
    r"|translate|compare|tell me)\b"
)
_WORD = re.compile(r"[^\W\d_]+")
_SMALL_TALK_LIST = """
    hallo hi hey hoi grüezi servus guten gute morgen tag abend nacht danke dank vielen dankeschön merci besten
    herzlichen dir ihnen ja nein ok okay alles klar gut super toll prima perfekt genau stimmt passt gerne bitte tschüss
    tschau ciao ade bis bald später wie geht es das ist war euch sehr schön schönen schönes wochenende wunderbar cool
    hello good morning afternoon evening night thanks thank you so much very many great nice perfect awesome yes no yep
    nope sure fine right got it that this is was bye goodbye see later cheers welcome how are doing well done lovely
    have a day weekend und and lot
"""
_SMALL_TALK_WORDS = frozenset(_SMALL_TALK_LIST.split())


def importance(text: str) -> float:
    """Return how important a message is, from 0 to 1; the same text always has the same."""
    if is_small_talk(text):
        return _SMALL_TALK
    return max((_weigh(sentence) for sentence in _sentences(_own_words(text))), default=_STATEMENT)


def essence(text: str, longest: int) -> str:
    """Return a message on one line, of a long one its weightiest sentences in their order; `longest` in characters."""
    whole = " ".join(text.split())
    if len(whole) <= longest:
        return whole
    sentences = [" ".join(sentence.split()) for sentence in _sentences(_own_words(text))]
    chosen: set[int] = set()
    room = longest
    for position in sorted(range(len(sentences)), key=lambda n: -_weigh(sentences[n])):
        if len(sentences[position]) < room:
            chosen.add(position)
            room -= len(sentences[position]) + 1
    return " ".join(sentences[n] for n in sorted(chosen)) or f"{whole[: longest - 1]}…"


def is_small_talk(text: str) -> bool:
    """Tell whether a message says nothing but greetings, thanks and the like."""
    words = _WORD.findall(text.lower())
    return all(word in _SMALL_TALK_WORDS for word in words) and not any(sign.isdigit() for sign in text)


def _own_words(text: str) -> str:
    """Return what its user says: without quoted lines, and of a long message, mostly pasted, only both ends."""
    said = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">"))
    if len(said) <= _LONGEST_SAID:
        return said
    return f"{said[:_END_CHARACTERS]}\n{said[-_END_CHARACTERS:]}"


def _sentences(text: str) -> list[str]:
    return [sentence for line in text.splitlines() for sentence in split_sentences(line) if sentence.strip()]


def _weigh(sentence: str) -> float:
    if is_small_talk(sentence):
        return _SMALL_TALK
    if _REMEMBER.search(_NOT_REMEMBER.sub(" ", sentence)):
        return _EXPLICIT
    signals = sum(weight for weight, pattern in _SIGNALS if pattern.search(sentence))
    signals += 0.15 * names_any(sentence, "amount") + 0.1 * names_any(sentence, "date")
    signals += 0.1 * names_any(sentence, "company", "iban", "taxId", "email")
    if sentence.rstrip().endswith("?") or _QUESTION_START.search(sentence):
        return round(min(_QUESTION + signals, _HIGHEST_QUESTION), 2)
    return round(min(_STATEMENT + signals, _HIGHEST_IMPLICIT), 2)
