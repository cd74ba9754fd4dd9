"""The text a run ends with when it may not go on: never silence (AG-06, AG-07)."""

from collections.abc import Callable, Sequence
from datetime import datetime

from werkbank.agent.history import conversation
from werkbank.agent.prompt import LAST_CALLS, system_message
from werkbank.agent.protocols import AgentDatabase
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import ChatRequest
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope
from werkbank.domain.errors import ProviderError, UserError
from werkbank.domain.messages import Message
from werkbank.domain.runs import Run, RunStatus, StoredMessage
from werkbank.domain.trace import ToolCallLog
from werkbank.observability import logger
from werkbank.tools.registry import Registry

MAX_OUTPUT_TOKENS = 1_024
_REASONS = {
    "maxRoundsReached": {
        "en": "I stopped because the rounds for this question are used up ({rounds}).",
        "de": "Ich habe aufgehört, weil die Runden für diese Frage aufgebraucht sind ({rounds}).",
    },
    "budgetExceeded": {
        "en": "I stopped because the budget for this question is used up (CHF {spent} spent).",
        "de": "Ich habe aufgehört, weil das Budget für diese Frage aufgebraucht ist (CHF {spent} ausgegeben).",
    },
    "stalled": {
        "en": "I stopped because I was going round in circles: the last steps only repeated earlier ones.",
        "de": "Ich habe aufgehört, weil ich mich im Kreis gedreht habe: Die letzten Schritte wiederholten frühere.",
    },
}
_DONE = {"en": "Done until then:", "de": "Bis dahin erledigt:"}
_NOTHING = {"en": "Nothing had been done yet.", "de": "Bis dahin war noch nichts erledigt."}
_NEXT = {
    "en": "Ask again with a higher limit, or narrow the question down.",
    "de": "Fragen Sie mit einem höheren Limit noch einmal, oder grenzen Sie die Frage ein.",
}


class Closing:
    """Writes closing texts: by the model where it can be afforded, else from the run's own log."""

    def __init__(
        self, database: AgentDatabase, ai: AiService, registry: Registry, clock: Callable[[], datetime]
    ) -> None:
        self._database = database
        self._ai = ai
        self._registry = registry
        self._clock = clock

    def write(self, run: Run, status: RunStatus, timeout_seconds: float) -> None:
        """Store the closing text as the run's last answer; a second call changes nothing."""
        round = run.rounds + 1
        with self._database.session(run.principal) as session:
            if session.messages.answer(run.id, round):
                return
            calls = session.tool_calls.of_run(run.id)
        text = built_text(run, status, calls)
        if status != "budgetExceeded":
            text = self._told_by_model(run, LAST_CALLS[status], timeout_seconds) or text
        self._store(run, round, text)

    def _told_by_model(self, run: Run, last_call: str, timeout_seconds: float) -> str:
        """Let the model sum up, without tools; empty when it cannot."""
        assert run.workflow_id
        with self._database.session(run.principal) as session:
            told = session.messages.of_workflow(run.workflow_id)
            history = conversation(told, session.tool_calls.of_run(run.id), run.id)
        request = ChatRequest(
            messages=(system_message(), *history, Message(role="user", content=last_call)),
            max_output_tokens=MAX_OUTPUT_TOKENS,
            tools=self._registry.active(run.toolboxes).definitions(),
            may_call_tools=False,
        )
        scope = CallScope(run.principal, "summary", run.id, run.rounds + 1, run.workflow_id)
        try:
            answer = self._ai.chat(
                scope, request, Operation.AGENT, timeout_seconds=timeout_seconds, on_text=lambda _: None
            )
        except (UserError, ProviderError) as error:
            logger.warning("closing summary not written by the model", extra={"error": type(error).__name__})
            return ""
        return answer.assembled.message.content

    def _store(self, run: Run, round: int, text: str) -> None:
        with self._database.session(run.principal) as session:
            session.messages.add(StoredMessage.by_model(run, round, text, self._clock()))


def built_text(run: Run, status: RunStatus, calls: Sequence[ToolCallLog]) -> str:
    """Sum up a run from its log, without a model, in the user's language (German or English)."""
    language = "de" if run.language.startswith("de") else "en"
    reason = _REASONS[status][language].format(rounds=run.rounds, spent=run.spent_chf)
    done = [f"- {call.name}: {call.status}" for call in calls]
    middle = "\n".join([_DONE[language], "", *done]) if done else _NOTHING[language]
    return f"{reason}\n\n{middle}\n\n{_NEXT[language]}"
