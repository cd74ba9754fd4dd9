"""What a finished run leaves behind for later questions (AG-04, AG-17).

It is written once, when the run is over, however it ended: within the run the model sees all of it anyway, and one
embedding call is cheaper than one a round. The run pays for it, also from what is kept for its closing text.
"""

from werkbank.agent.protocols import AgentDatabase
from werkbank.ai.service import AiService
from werkbank.billing.purse import CallScope
from werkbank.domain.runs import Run, StoredMessage
from werkbank.domain.unit_of_work import UnitOfWork
from werkbank.knowledge.memory import remember_rounds, round_memory
from werkbank.knowledge.model import RoundMemory
from werkbank.knowledge.protocols import KnowledgeSession
from werkbank.knowledge.run_knowledge import gate_embedder
from werkbank.observability import logger

_MAX_RESULTS = 20


class Memory:
    """Remembers runs."""

    def __init__(self, database: AgentDatabase, knowledge: UnitOfWork[KnowledgeSession], ai: AiService) -> None:
        self._database = database
        self._knowledge = knowledge
        self._ai = ai

    def remember(self, run: Run) -> None:
        """Store the run's files, findings and answer, and its question's vector, unless somebody has.

        Failures are logged, never raised (AG-04).
        """
        if run.remembered_at:
            return
        scope = CallScope(run.principal, "embedding", run_id=run.id, workflow_id=run.workflow_id, is_closing=True)
        try:
            question, memories = self._memories(run)
            remember_rounds(self._knowledge, gate_embedder(self._ai, scope), run.principal, memories, question)
            # After it: who dies in between leaves a run whose next try stores the same memories, which are there.
            with self._database.session(run.principal) as session:
                session.runs.set_remembered(run.id)
        except Exception as error:  # whatever failed, the answer is given
            logger.warning("run not remembered", extra={"runId": run.id, "error": type(error).__name__})

    def _memories(self, run: Run) -> tuple[StoredMessage | None, list[RoundMemory]]:
        assert run.workflow_id
        with self._database.session(run.principal) as session:
            messages = [m for m in session.messages.of_workflow(run.workflow_id) if m.run_id == run.id]
            calls = session.tool_calls.of_run(run.id)
            sources = session.citations.of_run(run.id)
        used = {source.file_id: source.file_name for source in sources if source.file_id}
        findings = [call for call in calls if call.status == "succeeded" and call.result][:_MAX_RESULTS]
        said = [message for message in messages if message.role == "assistant" and message.content]
        question = next((message for message in messages if message.role == "user"), None)
        return question, [
            *(round_memory(run.workflow_id, run.id, 0, "fileRef", name, file_id) for file_id, name in used.items()),
            *(
                round_memory(run.workflow_id, run.id, call.round, "toolResult", f"{call.name}: {call.result}")
                for call in findings
            ),
            *(round_memory(run.workflow_id, run.id, m.round, "decision", m.content) for m in said[-1:]),
        ]
