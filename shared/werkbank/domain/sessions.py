"""Sessions: where a run comes from, and whether what starts it are its user's own words (AG-16).

| form | from | trusted |
|---|---|---|
| `workspace` | the page | yes |
| `teams:{conversation}` | a chat in Teams | yes |
| `slack:{channel}` or `slack:{channel}:{thread}` | a channel or thread of Slack | yes |
| `email_trigger` | a mail that came in | no |
| `event_{uuid}` | an event that came in | no |
| `sub-{depth}-{uuid}` | another run, which asked for help | as that one |

Whoever starts a run says which session it belongs to; nothing that comes with a question can.
"""

import re
from dataclasses import dataclass

from werkbank.domain.errors import InvalidInput, TooLarge

# Help for the help of a helper: deeper than this, runs only pass the question on.
MAX_DEPTH = 3

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_CHAT = re.compile(r"workspace|teams:[!-~]{1,250}|slack:[A-Z0-9]{1,32}(?::[0-9]{1,16}\.[0-9]{1,10})?")
_TRIGGER = re.compile(rf"email_trigger|event_{_UUID}")
_SUB = re.compile(rf"sub-([1-{MAX_DEPTH}])-{_UUID}")


@dataclass(frozen=True, slots=True)
class Session:
    """A session. Raises InvalidInput for an id in no valid form (hostile text), and for a trigger that is trusted."""

    id: str
    trusted: bool

    def __post_init__(self) -> None:
        if not any(form.fullmatch(self.id) for form in (_CHAT, _TRIGGER, _SUB)):
            raise InvalidInput("This is not a session id.")
        if self.trusted and _TRIGGER.fullmatch(self.id):
            raise InvalidInput("What a trigger starts is never trusted.")

    @property
    def depth(self) -> int:
        """Return how many runs above this one asked for help: 0 for what a person or a trigger started."""
        found = _SUB.fullmatch(self.id)
        return int(found[1]) if found else 0


WORKSPACE = Session("workspace", trusted=True)


def parse_session(text: str) -> Session:
    """Return the session with this id (hostile text): chats are trusted, triggers are not.

    Raises InvalidInput, also for sub-sessions: what they may do follows from their parent, not from their id.
    """
    if _SUB.fullmatch(text):
        raise InvalidInput("A sub-session is made of its parent.")
    return Session(text, trusted=not _TRIGGER.fullmatch(text))


def sub_session(parent: Session, run_id: str) -> Session:
    """Return the session of a run that helps another one; it is trusted as its parent is.

    Raises TooLarge when the parent may have no helpers, InvalidInput when `run_id` is no UUID.
    """
    if parent.depth >= MAX_DEPTH:
        raise TooLarge(f"A question may be handed on {MAX_DEPTH} times at most. Answer it with what is at hand.")
    return Session(f"sub-{parent.depth + 1}-{run_id}", trusted=parent.trusted)
