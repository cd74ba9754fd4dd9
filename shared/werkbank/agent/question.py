"""What goes to the model along with a question: files, passages, and what a search must settle first (WS-02, WS-03)."""

from collections.abc import Sequence

from werkbank.agent.history import conversation
from werkbank.agent.prompt import dated
from werkbank.agent.protocols import QuestionContext
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import ChatRequest
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope
from werkbank.domain.files import FileItem
from werkbank.domain.marking import as_data
from werkbank.domain.messages import Message
from werkbank.domain.runs import Run, StoredMessage
from werkbank.observability import count
from werkbank.websearch.forced import ForcedSearch
from werkbank.websearch.protocols import Rewrite

_REWRITE_TOKENS = 256
_REWRITE_SECONDS = 15.0


class Question:
    """Gathers the context of questions. `forced` is None where nothing can search."""

    def __init__(self, knowledge: QuestionContext, ai: AiService, forced: ForcedSearch | None) -> None:
        self._knowledge = knowledge
        self._ai = ai
        self._forced = forced

    def gather(
        self,
        run: Run,
        question: StoredMessage,
        files: Sequence[FileItem],
        notes: str,
        earlier: Sequence[StoredMessage],
    ) -> str:
        """Return the block for a question; `earlier` is what was said before it. Faults leave their part out.

        `notes` are our own words on its files.
        """
        context = self._knowledge.context(run, question, files, [message.id for message in earlier])
        gathered = {"workspace": context.known, "web search": self._searched(run, question.content, earlier)}
        marked = (as_data(source, text) for source, text in gathered.items() if text)
        return "\n\n".join(filter(None, [notes, context.said, *marked]))

    def _searched(self, run: Run, question: str, earlier: Sequence[StoredMessage]) -> str:
        """Search where only a search answers rightly, unless the user does without (WS-07); empty otherwise."""
        # What somebody else wrote may not have itself sent out; the model may ask its user to search.
        if self._forced is None or not run.web_search_enabled or not run.trusted:
            return ""
        found = self._forced.context(run, question, conversation(earlier, (), run), self._rewriting(run))
        if found:
            count("search_forced_total")
        return found

    def _rewriting(self, run: Run) -> Rewrite:
        def rewrite(messages: Sequence[Message]) -> str:
            *instruction, asked = messages
            answer = self._ai.chat(
                CallScope(run.principal, "search", run_id=run.id, workflow_id=run.workflow_id),
                ChatRequest(messages=(*instruction, dated(asked, run.zone)), max_output_tokens=_REWRITE_TOKENS),
                Operation.DATA_ANALYSE,
                timeout_seconds=_REWRITE_SECONDS,
                on_text=lambda _: None,
            )
            return answer.assembled.message.content

        return rewrite
