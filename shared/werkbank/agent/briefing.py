"""Settles in a run's first round what holds to its end: how demanding the question is, the system prompt (AG-18)."""

from collections.abc import Sequence

from werkbank.agent.prompt import SYSTEM_PROMPT, system_prompt
from werkbank.agent.protocols import AgentDatabase
from werkbank.agent.skills import choose_skills
from werkbank.ai.complexity import complexity_of
from werkbank.ai.selector import ModelChoice
from werkbank.domain.runs import Briefing, Run, SkillUse, StoredMessage
from werkbank.knowledge.recall import known_facts

# Of a run that ended before its first round.
UNBRIEFED = Briefing(complexity="moderate", system_prompt=SYSTEM_PROMPT)


class Briefer:
    """Briefs runs."""

    def __init__(self, database: AgentDatabase) -> None:
        self._database = database

    def settle(self, run: Run, question: StoredMessage, earlier: Sequence[StoredMessage]) -> Briefing:
        """Return the run's briefing; whoever settled it first decides. `earlier` is what was said before the question.

        Raises StorageUnavailable.
        """
        before = next((message.content for message in reversed(earlier) if message.role == "user"), "")
        complexity = complexity_of(question.content, len(question.file_ids), before)
        with self._database.session(run.principal) as session:
            own = session.briefings.skill_files()
            skills = choose_skills(question.content, before, own)
            used = tuple(SkillUse(name=skill.name, origin=skill.origin, file_id=skill.file_id) for skill in skills)
            facts = known_facts(session.knowledge.remembered, run.workflow_id)
            prompt = system_prompt(skills, tuple(facts.values()))
            proposed = Briefing(complexity=complexity, skills=used, system_prompt=prompt)
            session.briefings.add(run.id, proposed)
            return session.briefings.find(run.id) or proposed


def choice_of(run: Run, briefing: Briefing) -> ModelChoice:
    """Return how the model of a run's next call is chosen: whichever answered goes on.

    One that stood in for a broken choice is as fixed as the choice was (AG-13).
    """
    fixed = briefing.answered_by if briefing.instead_of is not None else run.config.model
    return ModelChoice(fixed, briefing.complexity, briefing.answered_by, briefing.answered_under)
