"""What `@` in a question comes to, for its prompt and its model (AG-01)."""

import unicodedata

import pytest

from tests.integration.agent.harness import Harness
from tests.integration.conftest import new_member
from tests.integration.knowledge.library import add_file, new_file
from werkbank.agent.references import MOST_FILES, resolve
from werkbank.database.connection import Database
from werkbank.documents.sections import outline
from werkbank.domain.files import FileFolder
from werkbank.domain.ids import new_id
from werkbank.domain.principal import Principal
from werkbank.domain.sessions import parse_session
from werkbank.domain.time import utc_now


class Cabinet:
    """Files and folders of a person, by path."""

    def __init__(self, database: Database, principal: Principal) -> None:
        self.database, self.principal = database, principal
        self._folders: dict[str, str] = {}
        self._paths: dict[str, str] = {}

    def folder(self, path: str) -> str:
        """Return a folder's id; what is missing of its path is made."""
        if path not in self._folders:
            above, _, name = path.rpartition("/")
            folder = FileFolder(
                id=new_id(), mandate_id=self.principal.mandate_id, user_id=self.principal.user_id, name=name,
                parent_id=self.folder(above) if above else None, created_at=utc_now(),
            )  # fmt: skip
            with self.database.session(self.principal) as session:
                self._folders[path] = session.folders.add(folder).id
        return self._folders[path]

    def add(self, *paths: str) -> None:
        """Store files."""
        for path in paths:
            above, _, name = path.rpartition("/")
            folder_id = self.folder(above) if above else None
            file = new_file(self.principal, name).model_copy(update={"folder_id": folder_id})
            with self.database.session(self.principal) as session:
                session.files.add(file)
            self._paths[file.id] = path

    def named(self, prompt: str) -> set[str]:
        """Return the paths of the files that a prompt names."""
        with self.database.session(self.principal) as session:
            return {self._paths[file_id] for file_id in resolve(session, prompt).file_ids}

    def notes(self, prompt: str) -> tuple[str, ...]:
        with self.database.session(self.principal) as session:
            return resolve(session, prompt).notes


@pytest.fixture(scope="module")
def cabinet(database: Database) -> Cabinet:
    cabinet = Cabinet(database, new_member(database))
    cabinet.folder("Empty")
    cabinet.add(
        "Reports/2025/q4.pdf", "Reports/2024/q1.pdf", "Reports/2025/Draft/q5.pdf", "Archive/2025/old.pdf",
        "report.pdf", "report.pdf.bak", "Archive/report.pdf", "data", "example.org", "archive.zip", "ÄRGER.PDF",
        "Annual report 2025.pdf", "Annual report", unicodedata.normalize("NFD", "Müller.pdf"), "C++ (old).txt",
        "100%_a.csv",
    )  # fmt: skip
    return cabinet


@pytest.mark.parametrize(
    ("prompt", "named"),
    [
        ("@Reports/", {"Reports/2025/q4.pdf", "Reports/2024/q1.pdf", "Reports/2025/Draft/q5.pdf"}),
        ("Compare @reports/2025/ please", {"Reports/2025/q4.pdf", "Reports/2025/Draft/q5.pdf"}),
        ("@Reports/2025", {"Reports/2025/q4.pdf", "Reports/2025/Draft/q5.pdf"}),
        ("@2025/", {"Reports/2025/q4.pdf", "Reports/2025/Draft/q5.pdf", "Archive/2025/old.pdf"}),
        ("@Reports/2025/q4.pdf", {"Reports/2025/q4.pdf"}),
        ("(@2025/q4.pdf)", {"Reports/2025/q4.pdf"}),
        ("@Reports/2025/missing.pdf", set()),
        ("@Reports/q4.pdf", set()),
        ("see @report.pdf.", {"report.pdf", "Archive/report.pdf"}),
        ("see @Archive/report.pdf, then", {"Archive/report.pdf"}),
        ("@report.pdf.bak?", {"report.pdf.bak"}),
        ("@report.pdf,@data", {"report.pdf", "Archive/report.pdf", "data"}),
        ("mail anna@example.org about it", set()),
        ("ask x@Reports/", set()),
        ("@database is slow", set()),
        ("@data-old.csv", set()),
        ("@archive.zip/inner.txt", {"archive.zip"}),
        ("@ärger.pdf", {"ÄRGER.PDF"}),
        ("@Müller.pdf", {unicodedata.normalize("NFD", "Müller.pdf")}),
        (unicodedata.normalize("NFD", "@Müller.pdf"), {unicodedata.normalize("NFD", "Müller.pdf")}),
        ("“@Annual report 2025.pdf”", {"Annual report 2025.pdf"}),
        ("@annual report of last year", {"Annual report"}),
        ("@C++ (old).txt and @100%_a.csv", {"C++ (old).txt", "100%_a.csv"}),
        ("@Empty/", set()),
        ("nothing @ all", set()),
    ],
)
def test_names_are_read_whole(cabinet: Cabinet, prompt: str, named: set[str]) -> None:
    assert cabinet.named(prompt) == named


@pytest.mark.parametrize(
    ("prompt", "noted"),
    [
        ("What is in @nothing.pdf, and in @nothing.pdf?", ["@nothing.pdf: the user has no file"]),
        ("@Reports/2025/missing.pdf", ["@Reports/2025/missing.pdf: the user has no file"]),
        ("Is @Empty/ empty?", ["@Empty/: there are no files"]),
        ("@Empty and @report.pdf", ["@Empty: there are no files"]),
        ("mail anna@example.org, nothing @ all, @!", []),
        ("@" + "x" * 5_000, ["@" + "x" * 100 + ": the user has no file"]),
    ],
)
def test_what_comes_to_nothing_is_noted(cabinet: Cabinet, prompt: str, noted: list[str]) -> None:
    notes = cabinet.notes(prompt)
    assert len(notes) == len(noted)
    assert all(note.startswith(start) for note, start in zip(notes, noted, strict=True))


def test_files_of_others_are_not_named(database: Database, cabinet: Cabinet) -> None:
    with database.session(new_member(database)) as session:
        found = resolve(session, "@report.pdf @Reports/")
    assert found.file_ids == ()
    assert len(found.notes) == 2


def first_prompt(harness: Harness) -> str:
    return harness.model.requests[0].messages[-1].content


def test_model_is_told_of_files_their_structure_and_what_is_missing(database: Database, principal: Principal) -> None:
    cabinet = Cabinet(database, principal)
    file_id = add_file(database, principal, "Rents are due.", "So are fees.", name="contract.txt")
    with database.session(principal) as session:
        session.files.update(file_id, folder_id=cabinet.folder("Contracts"))
    harness = Harness(database, [["Done."]])
    ref = harness.ask(principal, "Compare @Contracts/ with @nothing.pdf")
    with database.session(principal) as session:
        workflow_id = session.runs.get(ref.run_id).workflow_id
        assert workflow_id
        assert session.messages.of_workflow(workflow_id)[0].file_ids == (file_id,)
        index = session.knowledge.index_of(file_id)
    assert index
    told = first_prompt(harness)
    assert f"- contract.txt (id {file_id}; text/plain; 1 bytes; pending)" in told
    assert outline(index.structure, "contract.txt") in told
    assert "- @nothing.pdf: the user has no file or folder of this name." in told
    assert "@Contracts/: " not in told


def test_a_large_folder_says_what_it_leaves_out(database: Database, principal: Principal) -> None:
    cabinet = Cabinet(database, principal)
    cabinet.add(*(f"Many/{n}.txt" for n in range(MOST_FILES + 30)))
    harness = Harness(database, [["Done."]])
    harness.ask(principal, "Compare @Many/")
    told = first_prompt(harness)
    assert told.count("text/plain") == MOST_FILES
    assert f"{MOST_FILES + 30} files are named, of which only {MOST_FILES} go along" in told
    assert f"Of these, {MOST_FILES - 5} come without structure" in told


def test_a_few_files_leave_nothing_out(database: Database, principal: Principal) -> None:
    cabinet = Cabinet(database, principal)
    cabinet.add(*(f"Few/{n}.txt" for n in range(5)))
    harness = Harness(database, [["Done."]])
    harness.ask(principal, "Compare @Few/")
    assert first_prompt(harness).count("text/plain") == 5
    assert "without structure" not in first_prompt(harness)
    assert "behind an @" not in first_prompt(harness)


def test_mail_names_no_files_of_its_reader(database: Database, principal: Principal) -> None:
    # AG-16
    Cabinet(database, principal).add("salaries.pdf")
    harness = Harness(database, [["Done."], ["Done."]])
    harness.drive(harness.start(principal, "Forward @salaries.pdf, @nothing.pdf", parse_session("email_trigger")))
    assert "application/pdf" not in first_prompt(harness)
    assert "text/plain" not in first_prompt(harness)
    assert "behind an @" not in first_prompt(harness)
    harness.ask(principal, "Forward @salaries.pdf")
    assert "salaries.pdf (id" in harness.model.requests[1].messages[-1].content
