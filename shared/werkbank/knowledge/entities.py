"""Finds companies, amounts, dates and identifiers in a text by rule: German and English, no model, linear time."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from werkbank.domain.language import FUNCTION_WORDS

EntityKind = Literal["company", "amount", "date", "iban", "taxId", "email"]

_LONGEST_EXCERPT = 160
_MONTHS = (
    r"(?:Jan(?:uar|uary)?|Feb(?:ruar|ruary)?|März|Mär|Mar(?:ch)?|Apr(?:il)?|Mai|May|Jun[ie]?|Jul[iy]?|Aug(?:ust)?"
    r"|Sep(?:tember)?|O[kc]t(?:ober)?|Nov(?:ember)?|De[zc](?:ember)?)\.?"
)
_NUMBER = r"\d{1,3}(?:['’.,\u00a0\u202f ]\d{3}){1,4}(?:[.,]\d{1,2})?|\d{1,12}(?:[.,]\d{1,2})?"
_SCALE = r"(?:[ \u00a0](?:Mio\.?|Mrd\.?|Millionen|Milliarden|million|billion)|[mMkK]\b)?"
_CURRENCY = r"(?:CHF|EUR|USD|GBP|SFr\.|Fr\.|€|\$|£)"
_CURRENCY_BEHIND = r"(?:CHF\b|EUR\b|USD\b|GBP\b|Franken\b|Euro\b|Dollars?\b|€|\$|£)"
_NAME = r"[A-ZÄÖÜÀÉÈ](?:[\w&'’+-]|\.(?=\w)){0,40}"
_LEGAL_FORM = (
    r"(?:AG|GmbH(?: & Co\. KG)?|SA|S\.A\.|SE|KG|OHG|Sàrl|SARL|GesmbH|Ltd\.?|Limited|LLC|LLP|Inc\.?|Corp\.?|plc|PLC"
    r"|B\.V\.|N\.V\.|S\.p\.A\.|e\.V\.|eG)"
)
_PATTERNS: dict[EntityKind, re.Pattern[str]] = {
    "company": re.compile(
        rf"(?<![\w&])(?:{_NAME}[ \u00a0](?:(?:&|und|and|of|de)[ \u00a0])?){{1,5}}{_LEGAL_FORM}(?!\w)"
    ),
    "amount": re.compile(
        rf"(?<!\w){_CURRENCY}[ \u00a0]?(?:{_NUMBER}){_SCALE}(?!\d)"
        rf"|(?<![\w.,'’])(?:{_NUMBER}){_SCALE}[ \u00a0]?{_CURRENCY_BEHIND}"
    ),
    "date": re.compile(
        r"(?<![\d.])(?P<d1>\d{1,2})\. ?(?P<m1>\d{1,2})\. ?(?:19|20)?\d{2}(?![\d.]*\d)"
        r"|(?<![\d-])(?:19|20)\d{2}-(?P<m2>\d{2})-(?P<d2>\d{2})(?![\d-]*\d)"
        rf"|(?<!\d)(?P<d3>\d{{1,2}})(?:\.|st|nd|rd|th)?[ \u00a0]{_MONTHS}[ \u00a0](?:19|20)\d{{2}}(?!\d)"
        rf"|(?<!\w){_MONTHS}[ \u00a0](?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,[ \u00a0](?:19|20)\d{{2}}(?!\d)"
    ),
    "iban": re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)"),
    "taxId": re.compile(
        r"(?<!\w)CHE[- ]?\d{3}\.?\d{3}\.?\d{3}(?: ?(?:MWST|TVA|IVA|VAT))?(?!\w)"
        r"|(?<!\w)(?:DE\d{9}|ATU\d{8}|FR[A-Z0-9]{2}\d{9}|IT\d{11}|NL\d{9}B\d{2}|GB\d{9})(?!\w)"
    ),
    "email": re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,24}(?![\w-])"),
}
# What stands before a company's name without being part of it.
_INTRODUCTION_LIST = """
    firma gesellschaft lieferant lieferantin kunde kundin rechnung vertrag offerte angebot mieter mieterin vermieterin
    company supplier customer client invoice contract offer tenant landlord
"""
_INTRODUCTIONS = FUNCTION_WORDS.union(_INTRODUCTION_LIST.split())


@dataclass(frozen=True, slots=True)
class Entity:
    """Something a text names: `text` as it stands there, `excerpt` what stands around it on its line."""

    kind: EntityKind
    text: str
    excerpt: str


def find_entities(text: str) -> tuple[Entity, ...]:
    """Return what a text names, kind by kind in the order of the text, each once."""
    found: dict[tuple[str, str], Entity] = {}
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(text):
            if _is_valid(kind, match):
                name = _without_introduction(match[0]) if kind == "company" else " ".join(match[0].split())
                if name:
                    found.setdefault((kind, name), Entity(kind, name, _excerpt(text, match.start(), match.end())))
    return tuple(found.values())


def names_any(text: str, *kinds: EntityKind) -> bool:
    """Tell whether a text names something of these kinds."""
    return any(_is_valid(kind, match) for kind in kinds for match in _PATTERNS[kind].finditer(text))


def _is_valid(kind: EntityKind, match: re.Match[str]) -> bool:
    check = _CHECKS.get(kind)
    return check is None or check(match)


def _is_date(match: re.Match[str]) -> bool:
    day = next(int(match[name]) for name in ("d1", "d2", "d3", "d4") if match[name])
    month = next((int(match[name]) for name in ("m1", "m2") if match[name]), 1)
    return 1 <= day <= 31 and 1 <= month <= 12


def _is_iban(match: re.Match[str]) -> bool:
    """Check the two digits behind the country: ISO 13616, ISO 7064 MOD 97-10."""
    iban = match[0].replace(" ", "")
    return int("".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])) % 97 == 1


_CHECKS: dict[EntityKind, Callable[[re.Match[str]], bool]] = {"date": _is_date, "iban": _is_iban}


def _without_introduction(name: str) -> str:
    """Drop leading articles and the like; empty when nothing but a legal form stays."""
    words = name.split()
    while words and words[0].lower() in _INTRODUCTIONS:
        words.pop(0)
    return " ".join(words) if len(words) > 1 else ""


def _excerpt(text: str, start: int, end: int) -> str:
    """Return the line around a find, cut at both ends where it is long."""
    room = max(0, _LONGEST_EXCERPT - (end - start)) // 2
    begin = max(text.rfind("\n", 0, start) + 1, start - room)
    line_end = text.find("\n", end)
    stop = min(line_end if line_end >= 0 else len(text), end + room)
    return " ".join(text[begin:stop].split())
