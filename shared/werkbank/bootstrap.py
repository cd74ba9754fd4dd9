"""Builds every object once per container. The only place that knows all parts; handlers ask here for what they need.

Each function builds one part and is cached; parts that a function never asks for are never built, nor imported.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from werkbank import config
from werkbank.aws.connections import Connections, SocketPush, encode_event
from werkbank.aws.loops import StateMachine
from werkbank.aws.secrets import connection_string, read_secret, read_secret_version
from werkbank.aws.tickets import Tickets
from werkbank.database.connection import Database
from werkbank.domain.time import utc_now
from werkbank.streaming.run_stream import RunStreams

if TYPE_CHECKING:
    from fastapi import FastAPI

    from werkbank.agent.budget import Budget
    from werkbank.agent.finish import Finisher
    from werkbank.agent.frames import Frames
    from werkbank.agent.round import Rounds
    from werkbank.agent.stopping import Stopping
    from werkbank.ai.service import AiService
    from werkbank.aws.objects import S3Objects
    from werkbank.domain.runs import IndexRef, RunRef
    from werkbank.knowledge.index_conclusion import IndexConclusion
    from werkbank.knowledge.index_report import IndexReport
    from werkbank.knowledge.indexing import Indexing
    from werkbank.knowledge.protocols import EmbedTexts
    from werkbank.knowledge.run_knowledge import RunKnowledge
    from werkbank.knowledge.uploads import AbandonedUploads, Uploads
    from werkbank.rest.page import Page
    from werkbank.tools.execution import ToolExecution
    from werkbank.tools.registry import Registry
    from werkbank.websearch.lookup import WebLookup


@cache
def database() -> Database:
    """The database, as the functions' role."""
    arn = config.DatabaseSettings().database_secret_arn
    return Database(lambda: connection_string(read_secret(arn)))


@cache
def connections() -> Connections:
    """Open WebSocket connections."""
    return Connections(config.SocketSettings().socket_table)


@cache
def socket_push() -> SocketPush:
    """The push to open pages."""
    return SocketPush(connections(), config.SocketSettings().socket_endpoint)


@cache
def run_streams() -> RunStreams:
    """The events of runs."""
    return RunStreams(database(), socket_push())


@cache
def tickets() -> Tickets:
    """Tickets for the WebSocket."""
    return Tickets(config.TicketSettings().socket_table)


@cache
def objects() -> S3Objects:
    """The bytes of files."""
    from werkbank.aws.objects import S3Objects

    return S3Objects(config.BucketSettings().bucket_name)


@cache
def ai() -> AiService:
    """The gate to the models."""
    from werkbank.ai.keys import load_keys
    from werkbank.ai.last_good import Connected, LastGood
    from werkbank.ai.service import AiService
    from werkbank.billing.purse import Purse
    from werkbank.providers.catalog import build_catalog

    arn = config.ModelSettings().model_keys_secret_arn
    loaded = load_keys(lambda stage: read_secret_version(arn, stage=stage))
    catalog = build_catalog(loaded.keys)

    def earlier(version: str) -> Connected | None:
        found = load_keys(lambda _: read_secret_version(arn, version=version))
        return Connected(found.keys, version, build_catalog(found.keys).providers) if found.version else None

    last_good = LastGood(database(), Connected(loaded.keys, loaded.version, catalog.providers), earlier)
    return AiService(
        catalog.models, catalog.providers, Purse(database()), last_good=last_good, agent_model=loaded.keys.agent_model,
        has_earlier_keys=loaded.is_stand_in,
    )  # fmt: skip


@cache
def run_knowledge() -> RunKnowledge:
    """Passages for runs."""
    from werkbank.knowledge.run_knowledge import RunKnowledge

    return RunKnowledge(database(), ai())


@cache
def registry() -> Registry:
    """All tools."""
    from werkbank.ai.operations import Operation
    from werkbank.tools import catalog

    return catalog.registry(can_search_web=ai().can(Operation.WEB_SEARCH))


@cache
def web_lookup() -> WebLookup:
    """The open web, for tools."""
    from werkbank.web.reader import WebReader
    from werkbank.websearch.fillers import FillerLanguages
    from werkbank.websearch.gate import GateSearch, GateTranslation, PageNumbers
    from werkbank.websearch.lookup import WebLookup
    from werkbank.websearch.telling import Fillers

    fillers = Fillers(run_streams(), FillerLanguages(GateTranslation(ai())))
    return WebLookup(GateSearch(ai()), WebReader(), PageNumbers(database()), utc_now, fillers)


@cache
def budget() -> Budget:
    """functions/check_budget"""
    from werkbank.agent.budget import Budget

    return Budget(database(), utc_now)


@cache
def rounds() -> Rounds:
    """functions/agent_round"""
    from werkbank.agent.attempt import Attempts
    from werkbank.agent.briefing import Briefer
    from werkbank.agent.entities import EntityCache
    from werkbank.agent.question import Question
    from werkbank.agent.round import Rounds
    from werkbank.agent.summarization import Summaries
    from werkbank.ai.operations import Operation
    from werkbank.websearch.forced import ForcedSearch

    forced = ForcedSearch(web_lookup()) if ai().can(Operation.WEB_SEARCH) else None
    question, summaries = Question(run_knowledge(), ai(), forced), Summaries(database(), ai())
    attempts = Attempts(database(), run_streams(), ai(), question, Briefer(database()), summaries, utc_now)
    return Rounds(attempts, run_streams(), ai(), registry(), EntityCache(database(), ai()), utc_now)


@cache
def tool_execution() -> ToolExecution:
    """functions/execute_tool"""
    from werkbank.tools.execution import ToolExecution

    return ToolExecution(database(), run_streams(), registry(), objects(), run_knowledge(), web_lookup(), utc_now)


@cache
def finisher() -> Finisher:
    """functions/finish_run"""
    from werkbank.agent.closing import Closing
    from werkbank.agent.conclusion import Conclusion
    from werkbank.agent.entities import EntityCache
    from werkbank.agent.finish import Finisher
    from werkbank.agent.memory import Memory
    from werkbank.agent.summarization import Summaries

    closing = Closing(database(), ai(), registry(), Summaries(database(), ai()), utc_now)
    conclusion = Conclusion(database(), run_streams(), utc_now)
    memory = Memory(database(), database(), ai())
    return Finisher(database(), closing, EntityCache(database(), ai()), conclusion, memory, utc_now)


@cache
def frames() -> Frames:
    """functions/socket"""
    from werkbank.agent.conclusion import Conclusion
    from werkbank.agent.frames import Frames
    from werkbank.agent.start import Starter

    loop, conclusion = agent_loop(), Conclusion(database(), run_streams(), utc_now)
    limit = config.MandateSettings().mandate_limit_chf
    starter = Starter(database(), run_streams(), conclusion, loop, limit, utc_now)
    return Frames(database(), starter, stopping(), encode_event)


@cache
def agent_loop() -> StateMachine:
    """The state machine that answers questions."""
    return StateMachine(config.LoopSettings().agent_run_arn)


@cache
def stopping() -> Stopping:
    """The end of questions before theirs."""
    from werkbank.agent.conclusion import Conclusion
    from werkbank.agent.stopping import Stopping

    return Stopping(database(), Conclusion(database(), run_streams(), utc_now), agent_loop())


@cache
def uploads() -> Uploads:
    """functions/index_upload"""
    from werkbank.knowledge.uploads import Uploads

    settings = config.IndexUploadSettings()
    return Uploads(database(), objects(), StateMachine(settings.index_file_arn), settings.max_upload_bytes, utc_now)


@cache
def abandoned_uploads() -> AbandonedUploads:
    """functions/dead_letter"""
    from werkbank.knowledge.uploads import AbandonedUploads

    return AbandonedUploads(database())


@cache
def index_report() -> IndexReport:
    """What indexing tells."""
    from werkbank.knowledge.index_report import IndexReport

    return IndexReport(database(), run_streams())


@cache
def indexing() -> Indexing:
    """The steps of indexing: functions/extract_content, embed, store_index"""
    from werkbank.knowledge.indexing import Indexing

    return Indexing(database(), objects(), index_report().progress)


def extract_content(run: IndexRef) -> None:
    """functions/extract_content: the one step that needs the libraries for reading documents."""
    from werkbank.documents.chunking import chunk_document
    from werkbank.documents.extract import extract_document

    indexing().extract(run, run.file_id, extract_document, chunk_document)


@cache
def index_conclusion() -> IndexConclusion:
    """functions/store_index"""
    from werkbank.knowledge.index_conclusion import IndexConclusion

    return IndexConclusion(indexing(), index_report())


def index_embedder(run: RunRef) -> EmbedTexts:
    """functions/embed: an embedder that pays for an indexing run."""
    from werkbank.billing.purse import CallScope
    from werkbank.knowledge.run_knowledge import gate_embedder

    return gate_embedder(ai(), CallScope(run.principal, "embedding", run_id=run.run_id))


@cache
def api() -> FastAPI:
    """functions/api"""
    from werkbank.agent.consent import Consent
    from werkbank.rest.app import create_app
    from werkbank.rest.services import Services

    settings = config.ApiSettings()
    return create_app(
        Services(
            database=database(),
            objects=objects(),
            tickets=tickets(),
            ai=ai(),
            consent=Consent(database(), agent_loop()),
            stopping=stopping(),
            socket_url=settings.socket_url,
            max_upload_bytes=settings.max_upload_bytes,
            mandate_limit_chf=settings.mandate_limit_chf,
            clock=utc_now,
        )
    )


@cache
def page(folder: Path) -> Page:
    """functions/web"""
    from werkbank.rest.page import Page, SignIn, origin_of

    settings = config.WebSettings()
    sign_in = SignIn(
        settings.auth_issuer, settings.auth_client_id, settings.auth_authorize_url, settings.auth_token_url,
        settings.auth_logout_url,
    )  # fmt: skip
    storage = objects().download_url("any", "any", "text/plain")
    return Page(folder, sign_in, tuple(map(origin_of, (settings.auth_token_url, settings.socket_url, storage))))


def migrate_schema() -> list[str]:
    """functions/migrate: apply what is new and return its names."""
    from werkbank.database.migrations import migrate

    settings = config.MigrateSettings()
    owner, app = read_secret(settings.owner_secret_arn), read_secret(settings.database_secret_arn)
    return migrate(connection_string(owner), Path(settings.migrations_directory), app["password"])
