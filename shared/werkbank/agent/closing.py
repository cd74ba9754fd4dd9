"""The text a run ends with when it may not go on: never silence (AG-06, AG-07)."""

from collections.abc import Callable, Sequence
from datetime import datetime

from werkbank.agent.briefing import UNBRIEFED, choice_of
from werkbank.agent.guards import stall_of
from werkbank.agent.history import conversation, words_of
from werkbank.agent.prompt import CUT_OFF_CALL, LAST_CALLS, dated
from werkbank.agent.protocols import AgentDatabase
from werkbank.agent.recent import recent
from werkbank.agent.results import readable
from werkbank.agent.summarization import Fold, Summaries, covering, transcript
from werkbank.ai.operations import Operation
from werkbank.ai.protocols import ChatRequest
from werkbank.ai.selector import BEST_MODEL, ModelChoice
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope
from werkbank.domain.errors import BudgetExceeded, ProviderError, TooLarge, UserError
from werkbank.domain.marking import as_data
from werkbank.domain.messages import Message
from werkbank.domain.runs import Briefing, Run, RunStatus, StoredMessage
from werkbank.domain.trace import ToolCallLog
from werkbank.observability import logger
from werkbank.tools.registry import Registry

MAX_OUTPUT_TOKENS = 1_024
# What is kept for a closing text pays a cheap model for about this much (in characters).
_LONGEST_EXTRACT = 8_000
_LONGEST_QUESTION = 2_000
_REASONS = {
    "maxRoundsReached": {
        "en": "I stopped because the rounds for this question are used up ({rounds}).",
        "de": "Ich habe aufgehört, weil die Runden für diese Frage aufgebraucht sind ({rounds}).",
    },
    "budgetExceeded": {
        "en": "I stopped because the budget for this question is used up (CHF {spent} spent).",
        "de": "Ich habe aufgehört, weil das Budget für diese Frage aufgebraucht ist (CHF {spent} ausgegeben).",
    },
    "timedOut": {
        "en": "I stopped because the time for this question is used up.",
        "de": "Ich habe aufgehört, weil die Zeit für diese Frage aufgebraucht ist.",
    },
    "stalled": {
        "en": "I stopped because I was going round in circles: the last steps only repeated earlier ones.",
        "de": "Ich habe aufgehört, weil ich mich im Kreis gedreht habe: Die letzten Schritte wiederholten frühere.",
    },
}
_CUT_OFF = {
    "en": "I stopped because what I asked a tool for was cut off twice in a row: it was too long.",
    "de": "Ich habe aufgehört, weil zweimal nacheinander abgeschnitten wurde, was ich von einem Werkzeug wollte: "
    "Es war zu lang.",
}
_DONE = {"en": "Done until then:", "de": "Bis dahin erledigt:"}
_NOTHING = {"en": "Nothing had been done yet.", "de": "Bis dahin war noch nichts erledigt."}
_NEXT = {
    "en": "Ask again with a higher limit, or narrow the question down.",
    "de": "Fragen Sie mit einem höheren Limit noch einmal, oder grenzen Sie die Frage ein.",
}


class Closing:
    """Writes closing texts: by the model from what is kept for it, else from the run's own log."""

    def __init__(
        self,
        database: AgentDatabase,
        ai: AiService,
        registry: Registry,
        summaries: Summaries,
        clock: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._ai = ai
        self._registry = registry
        self._summaries = summaries
        self._clock = clock

    def write(self, run: Run, status: RunStatus, timeout_seconds: float) -> None:
        """Store the closing text as the run's last answer; a second call changes nothing."""
        round = run.rounds + 1
        assert run.workflow_id
        with self._database.session(run.principal) as session:
            if session.messages.answer(run.id, round):
                return
            calls = session.tool_calls.of_run(run.id)
            said = session.messages.of_workflow(run.workflow_id)
            briefing = session.briefings.find(run.id) or UNBRIEFED
        text = self._told_by_model(run, briefing, status, said, calls, timeout_seconds)
        text = text or built_text(run, status, calls)
        self._store(run, round, text)

    def _told_by_model(
        self,
        run: Run,
        briefing: Briefing,
        status: RunStatus,
        said: Sequence[StoredMessage],
        calls: Sequence[ToolCallLog],
        timeout_seconds: float,
    ) -> str:
        """Let the model sum up: with all it saw if that is affordable, else with an extract; empty when it cannot."""
        folds = covering(self._summaries.written(run), run.rounds)
        try:
            window = self._ai.context_window(Operation.AGENT, ModelChoice(run.config.model, briefing.complexity))
            history = conversation(recent(said, run.id, window), readable(calls, window), run, folds)
            last_call = dated(Message(role="user", content=_last_call(status, calls)), run.zone)
            whole = ChatRequest(
                messages=(briefing.system_message(), *history, last_call),
                max_output_tokens=MAX_OUTPUT_TOKENS,
                tools=self._registry.active(run.toolboxes, run.closed_toolboxes).definitions(),
                may_call_tools=False,
            )
            try:
                return self._ask(run, whole, Operation.AGENT, timeout_seconds, choice_of(run, briefing))
            except (BudgetExceeded, TooLarge):
                extract = _extract(run, status, said, calls, folds)
                return self._ask(run, extract, Operation.DATA_ANALYSE, timeout_seconds)
        except (UserError, ProviderError) as error:
            logger.warning("closing summary not written by the model", extra={"error": type(error).__name__})
            return ""

    def _ask(
        self,
        run: Run,
        request: ChatRequest,
        operation: Operation,
        timeout_seconds: float,
        choice: ModelChoice = BEST_MODEL,
    ) -> str:
        scope = CallScope(run.principal, "summary", run.id, run.rounds + 1, run.workflow_id, is_closing=True)
        answer = self._ai.chat(
            scope, request, operation, timeout_seconds=timeout_seconds, on_text=lambda _: None, choice=choice
        )
        return answer.assembled.message.content

    def _store(self, run: Run, round: int, text: str) -> None:
        with self._database.session(run.principal) as session:
            session.messages.add(StoredMessage.by_model(run, round, text, self._clock()))


def _extract(
    run: Run, status: RunStatus, said: Sequence[StoredMessage], calls: Sequence[ToolCallLog], folds: Sequence[Fold]
) -> ChatRequest:
    """Return a small request: the question, and the end of what was done about it."""
    mine = [message for message in said if message.run_id == run.id]
    steps = transcript(1, run.rounds, folds, mine, calls)[-_LONGEST_EXTRACT:]
    question = words_of(next(message for message in mine if message.role == "user"), _LONGEST_QUESTION)
    content = f"{question}\n\n{as_data('the last steps', steps)}\n\n{_last_call(status, calls)}"
    return ChatRequest(
        messages=(UNBRIEFED.system_message(), dated(Message(role="user", content=content), run.zone)),
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )


def _last_call(status: RunStatus, calls: Sequence[ToolCallLog]) -> str:
    return CUT_OFF_CALL if _is_cut_off(status, calls) else LAST_CALLS[status]


def _is_cut_off(status: RunStatus, calls: Sequence[ToolCallLog]) -> bool:
    return status == "stalled" and stall_of((), calls) == "cutOff"


def built_text(run: Run, status: RunStatus, calls: Sequence[ToolCallLog]) -> str:
    """Sum up a run from its log, without a model, in the user's language (German or English)."""
    language = "de" if run.language.startswith("de") else "en"
    reasons = _CUT_OFF if _is_cut_off(status, calls) else _REASONS[status]
    reason = reasons[language].format(rounds=run.rounds, spent=run.spent_chf)
    done = [f"- {call.name}: {call.status}" for call in calls]
    middle = "\n".join([_DONE[language], "", *done]) if done else _NOTHING[language]
    return f"{reason}\n\n{middle}\n\n{_NEXT[language]}"
