"""The environment of every function, typed. A function reads only what its own settings name."""

from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_settings import BaseSettings, SettingsConfigDict


class _Settings(BaseSettings):
    model_config = SettingsConfigDict(frozen=True, extra="ignore")


class DatabaseSettings(_Settings):
    """Where the secret with the functions' database login is."""

    database_secret_arn: str


class OwnerSettings(_Settings):
    """Where the secret with the schema owner's login is: for migrations only."""

    owner_secret_arn: str


class ModelSettings(_Settings):
    """Where the secret with the model providers' keys is."""

    model_keys_secret_arn: str


class BucketSettings(_Settings):
    """The bucket that holds the bytes of files."""

    bucket_name: str


class SocketSettings(_Settings):
    """Open connections, and the endpoint that pushes to them."""

    socket_table: str
    socket_endpoint: str


class TicketSettings(_Settings):
    """The table of single-use tickets."""

    socket_table: str


class UploadSettings(_Settings):
    """How large a file may be, in bytes."""

    max_upload_bytes: int


class MandateSettings(_Settings):
    """The highest limit that a mandate's administrators may choose, in CHF; `unlimited` is None."""

    mandate_limit_chf: Annotated[Decimal | None, BeforeValidator(lambda given: None if given == "unlimited" else given)]


class SignInSettings(_Settings):
    """The OpenID Connect issuer and where the page finds its endpoints."""

    auth_issuer: str
    auth_client_id: str
    auth_authorize_url: str
    auth_token_url: str
    auth_logout_url: str


class LoopSettings(_Settings):
    """The state machine that runs questions."""

    agent_run_arn: str


class ConsentSettings(_Settings):
    """How long a call waits for its user, in seconds; then it counts as declined."""

    consent_seconds: int


class AgentRoundSettings(DatabaseSettings, ModelSettings, SocketSettings, ConsentSettings):
    """functions/agent_round"""


class ExecuteToolSettings(DatabaseSettings, ModelSettings, SocketSettings, BucketSettings):
    """functions/execute_tool"""


class CheckBudgetSettings(DatabaseSettings, SocketSettings):
    """functions/check_budget"""


class FinishRunSettings(DatabaseSettings, ModelSettings, SocketSettings):
    """functions/finish_run"""


class IndexUploadSettings(DatabaseSettings, BucketSettings, UploadSettings, SocketSettings):
    """functions/index_upload"""

    index_file_arn: str


class ExtractContentSettings(DatabaseSettings, BucketSettings, SocketSettings):
    """functions/extract_content"""


class EmbedSettings(DatabaseSettings, BucketSettings, SocketSettings, ModelSettings):
    """functions/embed"""


class StoreIndexSettings(DatabaseSettings, BucketSettings, SocketSettings):
    """functions/store_index"""


class DeadLetterSettings(DatabaseSettings, SocketSettings):
    """functions/dead_letter"""


class SocketFunctionSettings(DatabaseSettings, SocketSettings, MandateSettings, LoopSettings):
    """functions/socket"""


class AuthorizeSocketSettings(TicketSettings):
    """functions/authorize_socket"""


class ApiSettings(
    DatabaseSettings, ModelSettings, BucketSettings, SocketSettings, UploadSettings, MandateSettings, LoopSettings
):
    """functions/api"""

    socket_url: str


class WebSettings(SignInSettings, BucketSettings):
    """functions/web"""

    socket_url: str


class MigrateSettings(DatabaseSettings, OwnerSettings):
    """functions/migrate; the directory holds the SQL files."""

    migrations_directory: str


SETTINGS: dict[str, type[BaseSettings]] = {
    "agent_round": AgentRoundSettings,
    "api": ApiSettings,
    "authorize_socket": AuthorizeSocketSettings,
    "check_budget": CheckBudgetSettings,
    "dead_letter": DeadLetterSettings,
    "embed": EmbedSettings,
    "execute_tool": ExecuteToolSettings,
    "extract_content": ExtractContentSettings,
    "finish_run": FinishRunSettings,
    "index_upload": IndexUploadSettings,
    "migrate": MigrateSettings,
    "socket": SocketFunctionSettings,
    "store_index": StoreIndexSettings,
    "web": WebSettings,
}
