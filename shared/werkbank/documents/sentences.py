"""Where German and English sentences end, told from the dots of abbreviations, dates and numbers."""

import re

# Kept lower-case and without the final dot; one letter before a dot (“z. B.”, “J. S. Bach”) never ends a sentence.
_ABBREVIATION_LIST = """
    abb abs anm art aufl bd bsp bspw bzgl bzw ca dgl dipl dr etc evtl exkl fa ff fig geb gem ggf ggü hrsg inkl insb
    insbes jan feb mär apr jun jul aug sep sept okt nov dez kap lit max mind min mio mrd mr mrs ms nr no op orig
    pos proc prof resp rz s sog st std str tab tel u.a usw v.a verf vgl vol vs z.b ziff zit zzgl al eq sec cf
    e.g i.e approx dept est inc ltd co corp jr sr vgl zb ua dh d.h i.d.r bundesgesetzbl entsch urt
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
_END = re.compile(r"[.!?…][\"'”“’»)\]]*(?=\s)")
_LAST_WORD = re.compile(r"[^\s(\[„“\"']+$")
_CONTINUES = re.compile(r"\s+[a-zäöüß,;–-]")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of `text`, each with the white space after it: joined, they are `text` again."""
    sentences: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, match):
            end = match.end() + _leading_space(text, match.end())
            sentences.append(text[start:end])
            start = end
    if start < len(text):
        sentences.append(text[start:])
    return sentences


def _leading_space(text: str, start: int) -> int:
    end = start
    while end < len(text) and text[end].isspace():
        end += 1
    return end - start


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if text[match.start()] != ".":
        return True
    if _CONTINUES.match(text, match.end()):
        return False
    word = _LAST_WORD.search(text, max(0, match.start() - 40), match.start())
    if word is None:
        return True
    last = word[0].lower()
    # “3. Mai”, “Abs. 3. Satz”: ordinals are rarely the end of a German sentence; four digits are a year and often are.
    is_ordinal = last.isdigit() and len(last) <= 2
    return not (last in _ABBREVIATIONS or is_ordinal or (len(last.rsplit(".", 1)[-1]) == 1 and last[-1].isalpha()))
