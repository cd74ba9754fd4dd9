"""Two hundred runs at once through the whole system: nothing lost, nothing mixed up, every token paid for.

The runs of several people in several mandates are all under way before the first model call is answered; some meet a
fault of the provider. Then what each page heard, what the log holds and what the ledger says must fit together.
"""

import json
import re
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import pytest
from websockets.exceptions import ConnectionClosed

from infra.local.client import TERMINAL, Json, Socket
from infra.local.stack import LocalStack
from tests.integration.stack.conftest import assert_gapless, text_of
from tests.scripted_server import BREAK, Answer, Fault, Hold, scripted_server
from tests.stack import Script, new_user, temporary_stack
from werkbank.ai.pricing import cost_chf
from werkbank.ai.registry import listed_models
from werkbank.database.connection import Database
from werkbank.domain.billing import Charge
from werkbank.domain.messages import ToolCall, Usage
from werkbank.domain.principal import Principal

RUNS: Final = 200
MANDATES: Final = 4
PEOPLE: Final = 20
PAGES_PER_PERSON: Final = 2
LONGEST_SECONDS: Final = 240.0
MODELS: Final = {model.id: model for model in listed_models()}

BEGINNING: Final = "This begins well and then"
UNAVAILABLE: Final[Answer] = [Fault(503)]
LIMITED: Final[Answer] = [Fault(429, "rate_limit_exceeded", {"retry-after": "1"})]
CUT: Final[Answer] = [BEGINNING, BREAK]
REFUSED: Final[Answer] = [Fault(401, "invalid_api_key")]
# Every 21st run meets each of these in its second round, so that everybody has some; the others none.
FAULTS: Final[dict[int, Answer]] = {3: UNAVAILABLE, 8: LIMITED, 13: CUT, 18: REFUSED}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class Page:
    """An open page: hears everything that comes to its socket."""

    def __init__(self, socket: Socket) -> None:
        self.socket = socket
        self.heard: dict[str, list[Json]] = defaultdict(list)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                event = self.socket.receive(LONGEST_SECONDS)
            except (ConnectionClosed, TimeoutError):
                return
            self.heard[str(event["runId"])].append(event)

    def events(self, run_id: str) -> list[Json]:
        """Return a run's events as heard, each once, in order."""
        by_number = {event["seq"]: event for event in self.heard[run_id]}
        return [event for _, event in sorted(by_number.items())]


@dataclass(frozen=True)
class Person:
    """Somebody with pages open."""

    principal: Principal
    pages: list[Page]


@dataclass(frozen=True)
class Question:
    """A run and what must come of it: its answer, and what each whole answer of the model used."""

    number: int
    run_id: str
    person: Person
    prompt: str
    answer: str
    usages: list[Usage]
    fault: Answer | None


@dataclass(frozen=True)
class Load:
    """All that was asked, what the model got to see of it, and the database to look into."""

    questions: list[Question]
    people: list[Person]
    script: Script
    database: Database

    def log(self, asked: Question) -> list[Json]:
        """Return a run's events as stored."""
        with self.database.session(asked.person.principal) as session:
            return [json.loads(json.dumps(event.to_wire())) for event in session.events.after(asked.run_id, 0)]

    def charges(self, asked: Question) -> tuple[Charge, ...]:
        """Return what the ledger says of a run."""
        with self.database.session(asked.person.principal) as session:
            return session.ledger.charges(asked.run_id)


@pytest.fixture(scope="module")
def load() -> Iterator[Load]:
    """Ask everything at once and wait until all is over."""
    script, all_began = Script(), threading.Event()
    with scripted_server(script.answer_for) as server:
        # Mistral's models speak what the scripted server speaks, and have prices.
        keys = {"MISTRAL_API_KEY": "scripted", "WERKBANK_MISTRAL_BASE_URL": server.url}
        with temporary_stack(keys) as stack, opened(stack) as people:
            assert stack.app
            questions = [prepared(n, people[n % PEOPLE], script, all_began) for n in range(RUNS)]
            for asked in questions:
                page = asked.person.pages[asked.number // PEOPLE % PAGES_PER_PERSON]
                page.socket.send(action="run", runId=asked.run_id, prompt=asked.prompt)
            wait_until(lambda: stack.running_executions() == RUNS)
            all_began.set()
            wait_until(lambda: stack.running_executions() == 0)
            database = Database(stack.app.uri)
            yield Load(questions, people, script, database)
            database.close()


@contextmanager
def opened(stack: LocalStack) -> Iterator[list[Person]]:
    """Let people of several mandates open their pages."""
    with ExitStack() as sockets:
        people = []
        for number in range(PEOPLE):
            client = new_user(stack, f"load-{number % MANDATES}")
            me = client.call("GET", "/me")
            pages = [Page(sockets.enter_context(client.socket())) for _ in range(PAGES_PER_PERSON)]
            people.append(Person(Principal(user_id=me["userId"], mandate_id=me["mandateId"]), pages))
        yield people


def prepared(number: int, person: Person, script: Script, all_began: threading.Event) -> Question:
    """Write a run's script: two tools, then an answer of its own, in some runs with a fault before it."""
    said = [f"The answer to {number} ", f"is {uuid.uuid4()}", "."]
    usages = [
        Usage(input_tokens=1_000 + 17 * number, output_tokens=50 + number, cached_input_tokens=5 * number),
        Usage(input_tokens=2_000 + 13 * number, output_tokens=70 + number, cached_input_tokens=7 * number),
    ]
    first: Answer = [f"Looking for {number}. ", Hold(all_began), *calls_of(number), usages[0]]
    fault = FAULTS.get(number % 21)
    prompt = script.add(first, *([fault] if fault else []), [*said, usages[1]], about=f"Question {number}")
    usages = usages[:1] if fault is REFUSED else usages
    return Question(number, str(uuid.uuid4()), person, prompt, "".join(said), usages, fault)


def calls_of(number: int) -> list[ToolCall]:
    """Return the tool calls of a run, which name it."""
    return [ToolCall(id=f"{number}-{n}", name="listFiles", arguments=f'{{"search": "{number}-{n}"}}') for n in range(2)]


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for a condition, not for ever."""
    deadline = time.monotonic() + LONGEST_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "it takes too long"
        time.sleep(0.2)


def test_every_run_ends_once_with_its_own_answer(load: Load) -> None:
    # AG-11, AG-19: a fault that passes is overcome, one that does not is told
    for asked in load.questions:
        events = load.log(asked)
        assert_gapless(events)
        assert [event["type"] for event in events if event["type"] in TERMINAL] == [events[-1]["type"]]
        assert [event["type"] for event in events].count("agentSummary") == 1
        assert {event["runId"] for event in events} == {asked.run_id}
        shown = f"Looking for {asked.number}. "
        if asked.fault is REFUSED:
            assert (events[-1]["type"], text_of(events)) == ("error", shown)
        else:
            assert events[-1]["data"]["status"] == "completed"
            assert text_of(events) == shown + asked.answer
            assert [e["data"]["content"] for e in events if e["type"] == "message"] == [asked.answer]


def test_every_run_has_its_own_tools_and_model_calls(load: Load) -> None:
    # AG-23: nothing is asked or called twice, and nothing of another run gets in
    for asked in load.questions:
        events = load.log(asked)
        told = {(e["data"]["callId"], e["data"]["arguments"]) for e in events if e["type"] == "toolCall"}
        assert told == {(call.id, call.arguments) for call in calls_of(asked.number)}
        assert [event["data"]["success"] for event in events if event["type"] == "toolResult"] == [True, True]
        requests = load.script.requests[asked.prompt]
        assert len(requests) == (2 if asked.fault in (None, REFUSED) else 3)
        # what somebody asked before is told along as their memory, nobody else's ever
        seen = json.dumps(requests)
        assert not [o.prompt for o in load.questions if o.person is not asked.person and o.prompt in seen]
        seen = re.sub(r"<memory>.*?</memory>", "", seen)
        assert [other.prompt for other in load.questions if other.prompt in seen] == [asked.prompt]


def test_pages_hear_what_the_log_holds(load: Load) -> None:
    # EV-02: what a page has missed it gets by asking
    for asked in load.questions:
        log = load.log(asked)
        for page in asked.person.pages:
            if len(page.events(asked.run_id)) < len(log):
                page.socket.send(action="resume", runId=asked.run_id, afterSeq=0)
                wait_until(lambda page=page, log=log: len(page.events(log[0]["runId"])) == len(log))  # type: ignore[misc]
            assert page.events(asked.run_id) == log
            # However often it was sent, a number stands for one event.
            assert all(event in log for event in page.heard[asked.run_id])


def test_nobody_hears_of_another_persons_runs(load: Load) -> None:
    for person in load.people:
        own = {asked.run_id for asked in load.questions if asked.person is person}
        for page in person.pages:
            assert set(page.heard) == own


def test_ledger_of_each_run_is_what_the_model_used(load: Load) -> None:
    # AI-08, to the last digit
    for asked in load.questions:
        charges = load.charges(asked)
        assert {charge.status for charge in charges} <= {"settled", "released"}
        settled = [charge for charge in charges if charge.status == "settled"]
        assert [charge.cost_chf for charge in settled] == [priced(charge) for charge in settled]
        rounds = [charge for charge in settled if charge.kind == "agentRound"]
        if asked.fault is CUT:
            (cut,) = (charge for charge in rounds if used(charge) not in asked.usages)
            assert cut.input_tokens > 0 < cut.output_tokens < len(BEGINNING)
            rounds.remove(cut)
        assert [used(charge) for charge in rounds] == asked.usages
        with load.database.session(asked.person.principal) as session:
            run = session.runs.get(asked.run_id)
        assert (run.spent_chf, run.reserved_chf) == (total(settled), Decimal(0))
        last_round = max(position for position, charge in enumerate(settled) if charge.kind == "agentRound")
        told = Decimal(load.log(asked)[-2]["data"]["costChf"])
        assert told == total(settled[: last_round + 1]), "remembering a run comes after it was summed up"


def test_ledger_of_each_mandate_is_the_sum_of_its_calls(load: Load) -> None:
    # AI-08: every call belongs to a run
    for person in load.people[:MANDATES]:
        with load.database.session(person.principal) as session:
            columns = ", ".join(Charge.model_fields)
            rows = session.connection.execute(f"SELECT {columns} FROM billing_transaction".encode()).fetchall()
            (mandate,) = session.connection.execute(b"SELECT spent_chf, reserved_chf FROM mandate").fetchall()
        charges = [Charge.model_validate(row) for row in rows]
        settled = [charge for charge in charges if charge.status == "settled"]
        assert {charge.status for charge in charges} <= {"settled", "released"}
        assert [charge.cost_chf for charge in settled] == [priced(charge) for charge in settled]
        assert (mandate["spent_chf"], mandate["reserved_chf"]) == (total(settled), Decimal(0))
        in_runs = sum(
            total(load.charges(asked))
            for asked in load.questions
            if asked.person.principal.mandate_id == person.principal.mandate_id
        )
        assert 0 < in_runs == mandate["spent_chf"]


def used(charge: Charge) -> Usage:
    return Usage(
        input_tokens=charge.input_tokens,
        output_tokens=charge.output_tokens,
        cached_input_tokens=charge.cached_input_tokens,
    )


def priced(charge: Charge) -> Decimal | None:
    return cost_chf(MODELS[charge.model], used(charge))


def total(charges: tuple[Charge, ...] | list[Charge]) -> Decimal:
    return sum((charge.cost_chf or Decimal(0) for charge in charges), Decimal(0))
