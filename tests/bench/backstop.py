"""How well the backstop tells questions that must be searched from others, on any list of phrasings.

`python -m tests.bench.backstop FILE…`, each a JSON list of `{"lang", "text", "force"}`. Prints what was judged wrongly,
a line per language, and last `recall 0.xxx false 0.xxx`: the share of the forced ones that were found, and the share of
the others that were forced all the same.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from werkbank.websearch.backstop import should_force_search


class Phrasing(BaseModel):
    """A text and whether it has to be searched."""

    lang: str
    text: str
    force: bool


@dataclass(frozen=True, slots=True)
class Figures:
    """`recall` and `false` are shares from 0 to 1; `wrong` are the phrasings that were judged wrongly."""

    recall: float
    false: float
    wrong: tuple[Phrasing, ...]

    def __str__(self) -> str:
        return f"recall {self.recall:.3f} false {self.false:.3f}"


def read_phrasings(paths: Iterable[Path]) -> list[Phrasing]:
    """Return the phrasings of all files together."""
    lists = TypeAdapter(list[Phrasing])
    return [phrasing for path in paths for phrasing in lists.validate_json(path.read_bytes())]


def figures(phrasings: Sequence[Phrasing]) -> Figures:
    """Judge the phrasings; with none that are to be forced (or not), that share is 1 (or 0)."""
    wrong = tuple(each for each in phrasings if should_force_search(each.text) != each.force)
    positive = sum(each.force for each in phrasings)
    negative = len(phrasings) - positive
    missed = sum(each.force for each in wrong)
    return Figures(
        recall=1 - missed / positive if positive else 1.0,
        false=(len(wrong) - missed) / negative if negative else 0.0,
        wrong=wrong,
    )


def main(arguments: Sequence[str]) -> int:
    """Report on the files named."""
    if not arguments:
        sys.stderr.write("Name a JSON list of {lang, text, force}: python -m tests.bench.backstop FILE\n")
        return 2
    phrasings = read_phrasings(map(Path, arguments))
    for each in figures(phrasings).wrong:
        sys.stdout.write(f"{each.lang} {'missed' if each.force else 'false '} {each.text}\n")
    for language in sorted({each.lang for each in phrasings}):
        sys.stdout.write(f"{language} {figures([each for each in phrasings if each.lang == language])}\n")
    sys.stdout.write(f"{figures(phrasings)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
