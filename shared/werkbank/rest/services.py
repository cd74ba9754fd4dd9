"""What the routers work with."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from werkbank.agent.consent import Consent
from werkbank.agent.stopping import Stopping
from werkbank.ai.service import AiService
from werkbank.aws.objects import S3Objects
from werkbank.aws.tickets import Tickets
from werkbank.database.connection import Database


@dataclass(frozen=True)
class Services:
    """Everything the REST API reaches; sizes in bytes, money in CHF.

    `mandate_limit_chf` is the highest limit that the operator of the installation allows a mandate.
    """

    database: Database
    objects: S3Objects
    tickets: Tickets
    ai: AiService
    consent: Consent
    stopping: Stopping
    socket_url: str
    max_upload_bytes: int
    mandate_limit_chf: Decimal | None
    clock: Callable[[], datetime]
