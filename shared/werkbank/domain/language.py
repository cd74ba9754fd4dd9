"""The function words of German and English: they carry a sentence, not its topic."""

import re
from typing import Literal

Language = Literal["german", "english"]

_WORD = re.compile(r"\w+")
_PUNCTUATION = ".,;:!?…()[]{}\"'„“”‚‘’«»"
_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern anderr
anders auch auf aus bei bereits bin bis bist bitte bzw da damit dann darf das dass dasselbe dazu daß dein deine deinem
deinen deiner deines dem demselben den denn denselben der derer derselbe derselben des desselben dessen dich die dies
diese dieselbe dieselben diesem diesen dieser dieses dir doch dort du durch dürfen ein eine einem einen einer eines
einig einige einigem einigen einiger einiges einmal er es etc etwa etwas euch euer eure eurem euren eurer eures für
gab geben gegen gewesen gibt hab habe haben hat hatte hatten heissen heisst heißt hier hin hinter ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes jene jenem jenen jener jenes
jetzt jeweils kann kein keine keinem keinen keiner keines können könnte laut lautet machen man manche manchem manchen
mancher manches mein meine meinem meinen meiner meines mich mir mit muss musste nach nein nicht nichts noch nun nur ob
oder ohne sehr sei seien sein seine seinem seinen seiner seines selbst sich sie sind so solche solchem solchen solcher
solches soll sollte sondern sonst sowie ueber um und uns unse unsem unsen unser unses unter viel vom von vor wann war
waren warst warum was weg weil weiter welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb
wessen wie wieder wieso wieviel will wir wird wirst wo woher wohin wollen wollte womit worden worin wozu wurde wurden
während wäre würde würden zu zum zur zwar zwischen über
"""
_ENGLISH = """
a about above after again against all also am among an and any are as at be because been before being below between
both but by can could did do does doing don down during each few for from further had has have having he her here hers
herself him himself his how i if in into is it its itself just many may me might more most much must my myself no nor
not now of off on once only or other our ours ourselves out over own per please same shall she should so some such
tell than that the their theirs them themselves then there these they this those through to too under until up upon us
very was we were what when where which while who whom whose why will with within without would you your yours yourself
yourselves
"""
_WORDS: dict[Language, frozenset[str]] = {
    "german": frozenset(_GERMAN.split()),
    "english": frozenset(_ENGLISH.split()),
}

FUNCTION_WORDS: frozenset[str] = _WORDS["german"] | _WORDS["english"]


def likely_languages(text: str) -> tuple[Language, ...]:
    """Tell by its function words in which language a text is; both when it has none or they do not say."""
    words = _WORD.findall(text.lower())
    counts = {language: sum(word in known for word in words) for language, known in _WORDS.items()}
    if counts["german"] == counts["english"]:
        return ("german", "english")
    return ("german",) if counts["german"] > counts["english"] else ("english",)


def topic_of(question: str) -> str:
    """Return a question without the function words of its language; all of it if nothing else stands in it."""
    known = function_words(likely_languages(question))
    topic = [word for word in question.split() if word.strip(_PUNCTUATION).lower() not in known]
    return " ".join(topic) or question


def function_words(languages: tuple[Language, ...]) -> frozenset[str]:
    """Return the function words of the languages together."""
    return frozenset().union(*(_WORDS[language] for language in languages))
