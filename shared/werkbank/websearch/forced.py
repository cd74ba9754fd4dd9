"""Searches before the model is asked, where only a search answers rightly (WS-03).

What is found goes along as system context, not as a tool result: models ignore a forced tool choice at times, and
models without tools refuse tool messages, but every model reads its context.
"""

from collections.abc import Sequence

from werkbank.domain.messages import Message
from werkbank.domain.runs import Run
from werkbank.websearch.backstop import should_force_search
from werkbank.websearch.coreference import stand_alone
from werkbank.websearch.pointers import filled_in, points_back
from werkbank.websearch.protocols import Rewrite, WebAccess


class ForcedSearch:
    """The backstop at work."""

    def __init__(self, web: WebAccess) -> None:
        self._web = web

    def context(self, run: Run, question: str, history: Sequence[Message], rewrite: Rewrite) -> str:
        """Return what is to go along with a question; empty when the model may decide for itself.

        `history` is what was said before the question. A follow-up is judged by what it means: "Does he still live?",
        and "And in Basel?" after such a question. No model is asked what is meant where it cannot be such a question.
        """
        query = question
        if history and points_back(question):
            said = (turn.content for turn in history if turn.role == "user")
            if not any(map(should_force_search, (question, *filled_in(question), *said))):
                return ""
            query = stand_alone(question, history, rewrite)
        return self._web.search_block(run, query) if should_force_search(query) else ""
