"""Which skills a question calls for: the shipped ones, the mandate's and the user's own (AG-18).

Matching needs no model: a skill is meant when two words of the question stand in its name or description, compared by
stem and by the parts of compounds. The same question and the same skills always give the same choice.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files

from werkbank.ai.complexity import goes_on
from werkbank.ai.stems import stems
from werkbank.ai.tokens import estimate_text_tokens
from werkbank.domain.language import FUNCTION_WORDS, likely_languages
from werkbank.domain.skills import Skill, SkillFile, parse_skill

MOST_SKILLS = 3
TOKEN_BUDGET = 6_000
_ENOUGH_WORDS = 2
# The request stands here; what comes after it is material.
_READ_CHARACTERS = 2_000
# Shorter stems would be found inside of everything.
_SHORTEST_PART = 5
_SHORTEST_WORD = 3
_WORD = re.compile(r"[^\W\d_]+")
_LANGUAGES = {"german": "de", "english": "en"}
# A mandate's own way outranks ours, a person's own the mandate's.
_PRECEDENCE = {"shipped": 0, "mandate": 1, "personal": 2}


def choose_skills(question: str, earlier: str, own: Iterable[SkillFile]) -> tuple[Skill, ...]:
    """Return the skills for a question, best first, within the budget.

    `own` are files that the user may see and that are theirs or their mandate's; `earlier` is the question before this
    one, which counts where this one only goes on with it.
    """
    skills = _by_name([*shipped_skills(), *_parsed(own)])
    chosen = _matching(question, skills)
    if not chosen and goes_on(question):
        chosen = _matching(earlier, skills)
    return tuple(_within_budget(chosen[:MOST_SKILLS]))


@cache
def shipped_skills() -> tuple[Skill, ...]:
    """Return the skills that come with Werkbank."""
    folder = files("werkbank.agent").joinpath("shipped")
    texts = (entry.read_text(encoding="utf-8") for entry in sorted(folder.iterdir(), key=lambda entry: entry.name))
    return tuple(skill for text in texts if (skill := parse_skill(text, "shipped")))


def _parsed(own: Iterable[SkillFile]) -> Iterator[Skill]:
    for file in sorted(own, key=lambda file: file.id):
        if skill := parse_skill(file.text, file.scope, file.id):
            yield skill


def _by_name(skills: Iterable[Skill]) -> list[Skill]:
    """Return one skill per name."""
    named: dict[str, Skill] = {}
    for skill in sorted(skills, key=lambda skill: _PRECEDENCE[skill.origin]):
        named[skill.name.casefold()] = skill
    return list(named.values())


def _matching(question: str, skills: Sequence[Skill]) -> list[Skill]:
    languages = {_LANGUAGES[language] for language in likely_languages(question)}
    asked = _topic(question[:_READ_CHARACTERS])
    scores = {skill.name: _common(asked, _topic(f"{skill.name} {skill.description}")) for skill in skills}
    meant = [
        skill
        for skill in skills
        if scores[skill.name] >= _ENOUGH_WORDS
        and (skill.language not in _LANGUAGES.values() or skill.language in languages)
    ]
    return sorted(meant, key=lambda skill: (-scores[skill.name], skill.name))


def _topic(text: str) -> frozenset[frozenset[str]]:
    """Return the stems of each word that says what a text is about."""
    words = {word for word in _WORD.findall(text.casefold()) if len(word) >= _SHORTEST_WORD}
    return frozenset(stems(word) for word in words - FUNCTION_WORDS)


def _common(asked: frozenset[frozenset[str]], known: frozenset[frozenset[str]]) -> int:
    """Count the words of a question that are known; forms of one word count once."""
    return len({known_as for word in asked if (known_as := _known_as(word, known))})


def _known_as(word: frozenset[str], known: frozenset[frozenset[str]]) -> str:
    """Return the stem under which a word is known, also as part of a compound or as one with such a part; else ""."""
    shared = [stem for other in known for stem in other & word]
    parts = [
        min(stem, mine, key=len)
        for other in known
        for stem in other
        for mine in word
        if (len(mine) >= _SHORTEST_PART and mine in stem) or (len(stem) >= _SHORTEST_PART and stem in mine)
    ]
    return min(shared or parts, default="")


def _within_budget(skills: Iterable[Skill]) -> Iterator[Skill]:
    left = TOKEN_BUDGET
    for skill in skills:
        left -= estimate_text_tokens(skill.text)
        if left < 0:
            return
        yield skill
