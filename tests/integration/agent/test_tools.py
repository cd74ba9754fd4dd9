"""Tool calls: faults become results, effects happen once (AG-10, AG-23, TB-01, TB-05, TB-09)."""

import pytest

from tests.integration.agent.harness import Harness, MemoryObjects
from werkbank.database.connection import Database
from werkbank.domain.errors import NotFound
from werkbank.domain.files import FileItem
from werkbank.domain.ids import new_id
from werkbank.domain.messages import ToolCall
from werkbank.domain.principal import Principal
from werkbank.domain.runs import RunRef
from werkbank.domain.time import utc_now
from werkbank.domain.trace import ToolCallLog
from werkbank.tools.context import ToolContext
from werkbank.tools.registry import Registry, tool

WRITE = ToolCall(id="w", name="writeFile", arguments='{"name": "notes.md", "content": "Hello", "mode": "create"}')


class Killed(BaseException):
    """What a killed process looks like from inside."""


def call(harness: Harness, principal: Principal, *calls: ToolCall) -> tuple[RunRef, list[ToolCallLog]]:
    """Let the model ask for these calls, run them, and return their logs."""
    ref = harness.start(principal)
    harness.run_tools(ref, harness.rounds.run(ref, 1, 30))
    return ref, logs(harness, ref)


def logs(harness: Harness, ref: RunRef) -> list[ToolCallLog]:
    with harness.database.session(ref.principal) as session:
        return list(session.tool_calls.of_run(ref.run_id))


def test_unknown_tool_names_the_nearest(database: Database, principal: Principal) -> None:
    # AG-10
    _, (log,) = call(Harness(database, [[ToolCall(id="a", name="listFile", arguments="{}")]]), principal)
    assert log.status == "failed"
    assert "listFiles" in (log.result or "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("{}", "query"),
        ('{"query": 7}', "query"),
        ('{"query": "x", "colour": "red"}', "colour"),
        ('{"query": "x', "JSON"),
    ],
)
def test_invalid_arguments_come_back_with_the_violation(
    database: Database, principal: Principal, arguments: str, complaint: str
) -> None:
    # AG-10, TB-01: also arguments that broke off
    asked = ToolCall(id="a", name="searchFiles", arguments=arguments)
    _, (log,) = call(Harness(database, [[asked]]), principal)
    assert log.status == "failed"
    assert complaint in (log.result or "")


def test_crash_in_a_tool_is_a_result_without_details(database: Database, principal: Principal) -> None:
    # AG-10
    @tool()
    def explode(context: ToolContext) -> str:
        """Explode."""
        raise RuntimeError("secret path /etc/shadow")

    asked = ToolCall(id="a", name="explode", arguments="{}")
    _, (log,) = call(Harness(database, [[asked]], Registry([explode])), principal)
    assert log.status == "failed"
    assert "RuntimeError" in (log.result or "")
    assert "shadow" not in (log.result or "")


def test_finished_call_is_not_repeated(database: Database, principal: Principal) -> None:
    # AG-23
    harness = Harness(database, [[WRITE]])
    ref, (before,) = call(harness, principal)
    harness.tools.execute(ref, 1, "w")
    assert logs(harness, ref) == [before]
    assert harness.objects.puts == 1
    assert len(harness.pushed.of_type("toolResult")) == 1


@pytest.mark.parametrize("moment", ["before the effect", "after the effect"])
def test_write_that_was_killed_happens_once(database: Database, principal: Principal, moment: str) -> None:
    # AG-23: no tool effect twice
    harness = Harness(database, [[WRITE]], objects=DyingObjects(moment == "after the effect"))
    ref = harness.start(principal)
    step = harness.rounds.run(ref, 1, 30)
    with pytest.raises(Killed):
        harness.run_tools(ref, step)
    harness.run_tools(ref, step)
    assert [log.status for log in logs(harness, ref)] == ["succeeded"]
    with database.session(principal) as session:
        (item,) = session.files.list()
    assert harness.objects.get(item.object_key) == b"Hello"
    assert len(harness.objects.content) == 1
    assert len(harness.pushed.of_type("toolCall")) == len(harness.pushed.of_type("toolResult")) == 1


class DyingObjects(MemoryObjects):
    """Storage during whose first write the process dies."""

    def __init__(self, after: bool) -> None:
        super().__init__()
        self._dies, self._after = True, after

    def put(self, key: str, data: bytes, content_type: str = "") -> None:
        if not self._dies or self._after:
            super().put(key, data, content_type)
        if self._dies:
            self._dies = False
            raise Killed


def test_unrepeatable_call_that_was_killed_has_an_unknown_outcome(database: Database, principal: Principal) -> None:
    # AG-23
    effects: list[str] = []

    @tool()
    def send_mail(context: ToolContext) -> str:
        """Send a mail."""
        effects.append(context.idempotency_key)
        raise Killed

    asked = ToolCall(id="a", name="sendMail", arguments="{}")
    harness = Harness(database, [[asked]], Registry([send_mail]))
    ref = harness.start(principal)
    step = harness.rounds.run(ref, 1, 30)
    with pytest.raises(Killed):
        harness.run_tools(ref, step)
    harness.run_tools(ref, step)
    (log,) = logs(harness, ref)
    assert log.status == "unknown"
    assert "unknown" in (log.result or "")
    assert len(effects) == 1


def test_append_that_is_tried_again_appends_once(database: Database, principal: Principal) -> None:
    # AG-23
    append = ToolCall(id="a", name="writeFile", arguments='{"name": "notes.md", "content": "!", "mode": "append"}')
    harness = Harness(database, [[append]], objects=DyingObjects(after=True))
    harness.objects.content["files/notes.md"] = b"Hello"
    add_file(database, principal, "notes.md")
    ref = harness.start(principal)
    step = harness.rounds.run(ref, 1, 30)
    with pytest.raises(Killed):
        harness.run_tools(ref, step)
    harness.run_tools(ref, step)
    with database.session(principal) as session:
        (item,) = session.files.list()
    assert harness.objects.get(item.object_key) == b"Hello!"


def add_file(database: Database, principal: Principal, name: str, mime_type: str = "text/plain") -> FileItem:
    now = utc_now()
    item = FileItem(
        id=new_id(),
        mandate_id=principal.mandate_id,
        user_id=principal.user_id,
        file_name=name,
        mime_type=mime_type,
        size=5,
        object_key=f"files/{name}",
        created_at=now,
        updated_at=now,
    )
    with database.session(principal) as session:
        return session.files.add(item)


def test_read_file_by_lines(database: Database, principal: Principal) -> None:
    # TB-05
    add_file(database, principal, "poem.txt")
    asked = ToolCall(id="a", name="readFile", arguments='{"file": "poem.txt", "startLine": 2, "endLine": 3}')
    harness = Harness(database, [[asked]])
    harness.objects.put("files/poem.txt", b"one\ntwo\nthree\nfour")
    _, (log,) = call(harness, principal)
    assert log.result == "poem.txt, lines 2–3 of 4:\n\ntwo\nthree"


def test_ambiguous_name_lists_what_it_may_mean(database: Database, principal: Principal) -> None:
    add_file(database, principal, "report 2025.txt")
    add_file(database, principal, "report 2026.txt")
    _, (log,) = call(
        Harness(database, [[ToolCall(id="a", name="readFile", arguments='{"file": "report"}')]]), principal
    )
    assert "report 2025.txt" in (log.result or "")
    assert "report 2026.txt" in (log.result or "")


@pytest.mark.parametrize("name", ["../evil.txt", "a/b.txt", "..", "c:\\x.txt", "run.exe"])
def test_file_names_that_are_paths_or_programs_are_refused(database: Database, principal: Principal, name: str) -> None:
    arguments = f'{{"name": {name!r}, "content": "x"}}'.replace("'", '"')
    harness = Harness(database, [[ToolCall(id="a", name="writeFile", arguments=arguments)]])
    _, (log,) = call(harness, principal)
    assert log.status == "failed"
    assert harness.objects.puts == 0


def test_list_files_filters(database: Database, principal: Principal) -> None:
    # TB-05
    for name in ("a.pdf", "b.txt", "c.txt"):
        add_file(database, principal, name)
    asked = ToolCall(id="a", name="listFiles", arguments='{"pattern": "*.txt"}')
    _, (log,) = call(Harness(database, [[asked]]), principal)
    assert "b.txt" in (log.result or "")
    assert "a.pdf" not in (log.result or "")


def test_call_nobody_asked_for_is_not_found(database: Database, principal: Principal) -> None:
    harness = Harness(database, [])
    ref = harness.start(principal)
    with pytest.raises(NotFound):
        harness.tools.execute(ref, 1, "made-up")


def test_mentions_resolve_to_files_and_folders(database: Database, principal: Principal) -> None:
    # AG-01
    mentioned = add_file(database, principal, "Q4 Report.pdf")
    add_file(database, principal, "other.pdf")
    harness = Harness(database, [["done"]])
    ref = harness.ask(principal, "Compare @q4 report.pdf with last year")
    with database.session(principal) as session:
        run = session.runs.get(ref.run_id)
        assert run.workflow_id
        question = session.messages.of_workflow(run.workflow_id)[0]
    assert question.file_ids == (mentioned.id,)
    assert "Q4 Report.pdf" in harness.model.requests[0].messages[-1].content


def test_calls_with_an_id_used_before_get_their_own(database: Database, principal: Principal) -> None:
    # AG-23: two calls under one id would be one in the ledger, and no provider takes such a history back
    def search(query: str) -> ToolCall:
        return ToolCall(id="x", name="searchFiles", arguments=f'{{"query": "{query}"}}')

    harness = Harness(database, [[search("rent"), search("notice")], [search("deposit")], ["done"]])
    ref = harness.ask(principal)
    asked = [(log.call_id, log.arguments, log.status) for log in logs(harness, ref)]
    assert asked == [
        ("x", '{"query": "rent"}', "succeeded"),
        ("call_1_1", '{"query": "notice"}', "succeeded"),
        ("call_2_0", '{"query": "deposit"}', "succeeded"),
    ]
    answered = [message.tool_call_id for message in harness.model.requests[-1].messages if message.role == "tool"]
    assert answered == ["x", "call_1_1", "call_2_0"]
