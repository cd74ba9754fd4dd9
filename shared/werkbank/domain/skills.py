"""Skills: how a kind of task is done well, as Markdown with front matter (AG-18).

    ---
    name: Contract review
    description: Review a contract, check an agreement for risks.
    language: en
    ---
    The text that the model is to follow.

The front matter is no YAML: one `key: value` a line, read as it stands; other keys are left alone. Files come from
people, so that everything is bounded and what does not fit is no skill.
"""

import re
from typing import Literal

from pydantic import Field, ValidationError

from werkbank.domain.base import WireModel
from werkbank.domain.runs import SkillOrigin

_MAX_HEAD_CHARACTERS = 1_500
_LINE = re.compile(r"([A-Za-z_-]{1,40}):\s*(.*)")
_KEYS = {"name", "description", "language"}
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class SkillFile(WireModel):
    """A file that may hold a skill."""

    id: str
    scope: Literal["mandate", "personal"]
    text: str


class Skill(WireModel):
    """A skill. `description` is what questions are matched with; `language` None means any."""

    name: str = Field(min_length=1, max_length=80)
    description: str = Field(min_length=1, max_length=600)
    language: str | None = Field(default=None, pattern="^[a-z]{2}$")
    text: str = Field(min_length=1, max_length=6_000)
    origin: SkillOrigin
    file_id: str | None = None


def parse_skill(text: str, origin: SkillOrigin, file_id: str | None = None) -> Skill | None:
    """Read a skill (hostile text); None for anything that is not exactly one."""
    clean = _CONTROLS.sub("", text.replace("\r\n", "\n")).strip()
    opening, _, rest = clean.partition("\n")
    head, closing, body = rest.partition("\n---")
    if opening.rstrip() != "---" or not closing or len(head) > _MAX_HEAD_CHARACTERS or body[:1] not in {"\n", ""}:
        return None
    lines = [_LINE.fullmatch(line.rstrip()) for line in head.split("\n") if line.strip()]
    fields = {line[1]: line[2].strip().strip("\"'") for line in lines if line}
    if len(fields) != len(lines):  # something else than fields, or one of them twice
        return None
    known = {key: value for key, value in fields.items() if key in _KEYS}
    try:
        return Skill.model_validate({**known, "text": body.strip(), "origin": origin, "file_id": file_id})
    except ValidationError:
        return None
