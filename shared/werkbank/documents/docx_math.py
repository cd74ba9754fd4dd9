"""Word's equations (Office Math, ECMA-376 §22.1) as LaTeX, which models and readers both know."""

import unicodedata

from werkbank.documents.office_package import Element

_SYMBOLS = {
    "×": "\\times", "÷": "\\div", "±": "\\pm", "∓": "\\mp", "⋅": "\\cdot", "·": "\\cdot", "∞": "\\infty",
    "≤": "\\leq", "≥": "\\geq", "≠": "\\neq", "≈": "\\approx", "≡": "\\equiv", "→": "\\to", "⇒": "\\Rightarrow",
    "⇔": "\\Leftrightarrow", "∈": "\\in", "∉": "\\notin", "⊂": "\\subset", "⊆": "\\subseteq", "∪": "\\cup",
    "∩": "\\cap", "∅": "\\emptyset", "∀": "\\forall", "∃": "\\exists", "∂": "\\partial", "∇": "\\nabla",
    "∑": "\\sum", "∏": "\\prod", "∫": "\\int", "∬": "\\iint", "∭": "\\iiint", "∮": "\\oint", "∯": "\\oiint",
    "∰": "\\oiiint", "⋃": "\\bigcup", "⋂": "\\bigcap", "⋀": "\\bigwedge", "⋁": "\\bigvee", "√": "\\sqrt",
    "…": "\\ldots", "⋯": "\\cdots", "∧": "\\wedge", "∨": "\\vee", "¬": "\\neg", "°": "^{\\circ}",
}  # fmt: skip
_FUNCTION_NAMES = "sin cos tan cot log ln exp lim max min sup inf det dim ker arg gcd"
_NAMED = frozenset(_FUNCTION_NAMES.split())
_ACCENTS = {"̂": "\\hat", "̃": "\\tilde", "̅": "\\bar", "⃗": "\\vec", "̇": "\\dot", "̈": "\\ddot"}


def latex(element: Element) -> str:
    """Return the LaTeX of an `m:oMath` element or of anything inside one."""
    name = _name(element)
    if name == "t":
        return "".join(map(_symbol, element.text or ""))
    if name.endswith("Pr"):
        return ""
    convert = _CONVERSIONS.get(name)
    return convert(element) if convert else _inner(element)


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _inner(element: Element) -> str:
    return "".join(map(latex, element))


def _part(element: Element, name: str) -> str:
    return "".join(_inner(child) for child in element if _name(child) == name)


def _property(element: Element, name: str, default: str) -> str:
    for child in element:
        if _name(child).endswith("Pr"):
            for item in child:
                if _name(item) == name:
                    return next((value for key, value in item.items() if key.endswith("}val")), "")
    return default


def _symbol(character: str) -> str:
    if character in _SYMBOLS:
        return f" {_SYMBOLS[character]} "
    name = unicodedata.name(character, "")
    if name.startswith(("GREEK SMALL LETTER ", "GREEK CAPITAL LETTER ")):
        letter = name.split()[3].lower()
        return f" \\{letter.title() if 'CAPITAL' in name else letter} "
    return unicodedata.normalize("NFKC", character) if name.startswith("MATHEMATICAL ") else character


def _fraction(element: Element) -> str:
    return f"\\frac{{{_part(element, 'num')}}}{{{_part(element, 'den')}}}"


def _script(element: Element) -> str:
    base, below, above = (_part(element, name) for name in ("e", "sub", "sup"))
    base = f"{{{base}}}" if "\\frac" in base or "(" in base else base
    return base + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _pre_script(element: Element) -> str:
    return f"{{}}_{{{_part(element, 'sub')}}}^{{{_part(element, 'sup')}}}{_part(element, 'e')}"


def _radical(element: Element) -> str:
    degree = _part(element, "deg")
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e')}}}"


def _large_operator(element: Element) -> str:
    operator = _symbol(_property(element, "chr", "∫") or "∫").strip()
    return f"{operator}_{{{_part(element, 'sub')}}}^{{{_part(element, 'sup')}}}{_part(element, 'e')}"


def _delimited(element: Element) -> str:
    begin, end = _property(element, "begChr", "("), _property(element, "endChr", ")")
    separator = _property(element, "sepChr", "|")
    inner = separator.join(_inner(child) for child in element if _name(child) == "e")
    return f"\\left{_brace(begin)}{inner}\\right{_brace(end)}"


def _brace(character: str) -> str:
    return f"\\{character}" if character in ("{", "}") else character or "."


def _function(element: Element) -> str:
    name = _part(element, "fName")
    return f"{_command(name)}({_part(element, 'e')})"


def _limit(element: Element) -> str:
    name = _part(element, "e")
    mark = "_" if _name(element) == "limLow" else "^"
    return f"{_command(name)}{mark}{{{_part(element, 'lim')}}}"


def _command(name: str) -> str:
    return f"\\{name}" if name in _NAMED else name


def _accent(element: Element) -> str:
    accent = _ACCENTS.get(_property(element, "chr", ""), "\\hat")
    return f"{accent}{{{_part(element, 'e')}}}"


def _lines(element: Element) -> str:
    return " \\\\ ".join(_inner(child) for child in element if _name(child) in ("e", "mr"))


def _matrix(element: Element) -> str:
    rows = (" & ".join(_inner(cell) for cell in row) for row in element if _name(row) == "mr")
    return "\\begin{matrix}" + " \\\\ ".join(rows) + "\\end{matrix}"


_CONVERSIONS = {
    "f": _fraction,
    "sSup": _script,
    "sSub": _script,
    "sSubSup": _script,
    "sPre": _pre_script,
    "rad": _radical,
    "nary": _large_operator,
    "d": _delimited,
    "func": _function,
    "limLow": _limit,
    "limUpp": _limit,
    "acc": _accent,
    "eqArr": _lines,
    "m": _matrix,
}
