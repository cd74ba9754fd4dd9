"""The agent on a real database with a scripted model, driven through the states of agent_run."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.page_search import PageSearch
from tests.scripted_model import SCRIPTED, Piece, ScriptedModel
from werkbank.agent.attempt import Attempts
from werkbank.agent.briefing import Briefer
from werkbank.agent.budget import Budget
from werkbank.agent.closing import Closing
from werkbank.agent.conclusion import Conclusion, Ending
from werkbank.agent.entities import EntityCache
from werkbank.agent.failure import ending_of
from werkbank.agent.finish import Finisher
from werkbank.agent.frames import Frames
from werkbank.agent.memory import Memory
from werkbank.agent.question import Question
from werkbank.agent.round import Rounds, Step
from werkbank.agent.start import Starter
from werkbank.agent.stopping import Stopping
from werkbank.agent.summarization import Summaries
from werkbank.ai.keys import LoadedKeys, ModelKeys
from werkbank.ai.last_good import Connected, LastGood
from werkbank.ai.model import Model
from werkbank.ai.protocols import ChatProvider, Providers
from werkbank.ai.registry import listed_models
from werkbank.ai.service import AiService
from werkbank.aws.connections import encode_event
from werkbank.billing.purse import Purse
from werkbank.database.connection import Database
from werkbank.domain.errors import NotFound
from werkbank.domain.events import RunEvent
from werkbank.domain.failure import parse_failure
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef, RunRequest
from werkbank.domain.sessions import WORKSPACE, Session
from werkbank.domain.time import utc_now
from werkbank.knowledge.run_knowledge import RunKnowledge
from werkbank.providers.internal.embedding import HashingEmbedder
from werkbank.streaming.run_stream import RunStreams
from werkbank.tools import catalog
from werkbank.tools.execution import ToolExecution
from werkbank.tools.registry import Registry
from werkbank.web.reader import WebReader
from werkbank.websearch.fillers import FillerLanguages
from werkbank.websearch.forced import ForcedSearch
from werkbank.websearch.gate import GateTranslation, PageNumbers
from werkbank.websearch.lookup import WebLookup
from werkbank.websearch.model import WebResult
from werkbank.websearch.protocols import WebSearch
from werkbank.websearch.telling import Fillers

TIMEOUT_SECONDS = 30.0
LIST_CALL = ToolCall(id="a", name="listFiles", arguments="{}")
KEYS = LoadedKeys(ModelKeys(), "v1")
NO_EARLIER: Mapping[str, Connected] = {}
EMBEDDING = tuple(model for model in listed_models() if model.id == "internal/hashing-1536")


@dataclass
class MemoryObjects:
    """Object storage in a dictionary; `puts` counts writes."""

    content: dict[str, bytes] = field(default_factory=dict)
    puts: int = 0

    def get(self, key: str) -> bytes:
        if key not in self.content:
            raise NotFound("no object")
        return self.content[key]

    def put(self, key: str, data: bytes, content_type: str = "") -> None:
        self.puts += 1
        self.content[key] = data

    def delete(self, key: str) -> None:
        self.content.pop(key, None)


@dataclass
class Recorder:
    """Stands where the socket is: keeps what was pushed."""

    events: list[RunEvent] = field(default_factory=list)
    has_filler: threading.Event = field(default_factory=threading.Event)

    def expect(self, user_id: str) -> None: ...

    def push(self, user_id: str, event: RunEvent) -> None:
        self.events.append(event)
        if event.type == "filler":
            self.has_filler.set()

    def of_type(self, type: str) -> list[RunEvent]:
        return [event for event in self.events if event.type == type]


@dataclass
class NoLoop:
    """Stands where the state machine is: notes starts and stops; the test drives the loop.

    What is raised at the next start is `fault`.
    """

    started: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    fault: BaseException | None = None

    def start(self, run: RunRef) -> None:
        fault, self.fault = self.fault, None
        if fault:
            raise fault
        self.started.append(run.run_id)

    def stop(self, run: RunRef) -> None:
        self.stopped.append(run.run_id)


class Harness:
    """Everything the loop needs, around one scripted model, or another `provider` in its place."""

    def __init__(
        self,
        database: Database,
        answers: Iterable[Sequence[Piece]],
        registry: Registry | None = None,
        model: Model = SCRIPTED,
        stand_in: tuple[Model, ScriptedModel] | None = None,
        summaries: type[Summaries] | None = None,
        objects: MemoryObjects | None = None,
        pages: tuple[WebResult, ...] | None = None,
        search: WebSearch | None = None,
        can_embed: bool = True,
        clock: Callable[[], float] = time.monotonic,
        keys: LoadedKeys = KEYS,
        earlier: Mapping[str, Connected] = NO_EARLIER,
        provider: ChatProvider | None = None,
    ) -> None:
        self.database = database
        self.model = ScriptedModel(answers)
        self.pushed = Recorder()
        self.loop = NoLoop()
        self.objects = objects or MemoryObjects()
        self.pauses: list[float] = []
        can_search = pages is not None or search is not None
        self.registry = registry or catalog.registry(can_search_web=can_search)
        streams = RunStreams(database, self.pushed)
        providers = Providers(
            chat={model.provider: provider or self.model, **({stand_in[0].provider: stand_in[1]} if stand_in else {})},
            embedding={"internal": HashingEmbedder()} if can_embed else {},
        )
        self.ai = AiService(
            (model, *([stand_in[0]] if stand_in else []), *EMBEDDING),
            providers,
            Purse(database),
            pause=self.pauses.append,
            clock=clock,
            last_good=LastGood(database, Connected(keys.keys, keys.version, providers), earlier.get),
            agent_model=keys.keys.agent_model,
            has_earlier_keys=keys.is_stand_in,
        )
        knowledge = RunKnowledge(database, self.ai)
        self.conclusion = Conclusion(database, streams, utc_now)
        self.starter = Starter(database, streams, self.conclusion, self.loop, None, utc_now)
        self.stopping = Stopping(database, self.conclusion, self.loop)
        self.frames = Frames(database, self.starter, self.stopping, encode_event)
        self.budget = Budget(database, utc_now)
        fillers = Fillers(streams, FillerLanguages(GateTranslation(self.ai)))
        search = search or PageSearch(pages or ())
        self.web = WebLookup(search, WebReader(), PageNumbers(database), utc_now, fillers)
        folding = (summaries or Summaries)(database, self.ai)
        question = Question(knowledge, self.ai, ForcedSearch(self.web) if can_search else None)
        attempts = Attempts(database, streams, self.ai, question, Briefer(database), folding, utc_now)
        entities = EntityCache(database, self.ai)
        self.rounds = Rounds(attempts, streams, self.ai, self.registry, entities, utc_now)
        self.tools = ToolExecution(database, streams, self.registry, self.objects, knowledge, self.web, utc_now)
        closing = Closing(database, self.ai, self.registry, folding, utc_now)
        memory = Memory(database, database, self.ai)
        self.finisher = Finisher(database, closing, entities, self.conclusion, memory, utc_now)

    def start(
        self,
        principal: Principal,
        prompt: str = "What is in my files?",
        origin: Session = WORKSPACE,
        **fields: object,
    ) -> RunRef:
        """Start a run."""
        return self.starter.start(principal, RunRequest.model_validate({"prompt": prompt, **fields}), origin)[0]

    def drive(self, ref: RunRef, before_round: Callable[[int], None] = lambda _: None) -> None:
        """Go through the states of agent_run until the run is over."""
        while True:
            verdict = self.budget.check(ref)
            if verdict.next == "finish":
                break
            before_round(verdict.round)
            step = self.rounds.run(ref, verdict.round, TIMEOUT_SECONDS)
            if step.next == "finish":
                verdict = verdict.model_copy(update={"status": step.status})
                break
            self.run_tools(ref, step)  # of a round that is to be done again there are none
        self.finisher.finish(ref, Ending(status=verdict.status), TIMEOUT_SECONDS)

    def fail(self, ref: RunRef, error: str) -> None:
        """End the run as the state machine does after a failure."""
        self.finisher.finish(ref, ending_of(parse_failure({"Error": error, "Cause": ""})), TIMEOUT_SECONDS)

    def run_tools(self, ref: RunRef, step: Step) -> None:
        """Run the batches of a step in order."""
        for batch in step.batches:
            for call_id in batch:
                self.tools.execute(ref, step.round, call_id)

    def ask(self, principal: Principal, prompt: str = "What is in my files?", **fields: object) -> RunRef:
        """Start a run and drive it to its end."""
        ref = self.start(principal, prompt, WORKSPACE, **fields)
        self.drive(ref)
        return ref

    def events(self, ref: RunRef) -> tuple[RunEvent, ...]:
        """Return the run's stored events."""
        with self.database.session(ref.principal) as session:
            return session.events.after(ref.run_id, 0)
