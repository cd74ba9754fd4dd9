"""A unit of work: one transaction with a store per concept."""

import psycopg
from psycopg.rows import DictRow

from werkbank.database.briefings import Briefings
from werkbank.database.citations import Citations
from werkbank.database.events import Events
from werkbank.database.files import Files
from werkbank.database.folders import Folders
from werkbank.database.good_models import GoodModels
from werkbank.database.knowledge import Knowledge
from werkbank.database.ledger import Ledger
from werkbank.database.mandates import Mandates
from werkbank.database.messages import Messages
from werkbank.database.preferences import PreferenceStore
from werkbank.database.rights import ModelRights
from werkbank.database.runs import Runs
from werkbank.database.tool_calls import ToolCalls
from werkbank.database.workflows import Workflows
from werkbank.domain.principal import Principal


class Session:
    """What a use case may read and write within one transaction, as one principal."""

    def __init__(self, connection: psycopg.Connection[DictRow], principal: Principal) -> None:
        self.connection = connection
        self.principal = principal
        self.briefings = Briefings(connection, principal)
        self.citations = Citations(connection, principal)
        self.events = Events(connection)
        self.files = Files(connection, principal)
        self.folders = Folders(connection, principal)
        self.good_models = GoodModels(connection, principal)
        self.knowledge = Knowledge(connection, principal)
        self.ledger = Ledger(connection, principal)
        self.mandates = Mandates(connection, principal)
        self.messages = Messages(connection, principal)
        self.preferences = PreferenceStore(connection, principal)
        self.rights = ModelRights(connection, principal)
        self.runs = Runs(connection, principal)
        self.tool_calls = ToolCalls(connection, principal)
        self.workflows = Workflows(connection, principal)
