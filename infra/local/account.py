"""The account the twin plays: names that appear in ARNs, credentials that open nothing, limits of the services."""

import os

REGION = "eu-central-2"
ACCOUNT_ID = "123456789012"
STACK_NAME = "werkbank"
HOST = "127.0.0.1"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "werkbank-local", "AWS_SECRET_ACCESS_KEY": "werkbank-local"}

KILOBYTE = 1024
MEGABYTE = 1024 * KILOBYTE

# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
LAMBDA_SYNC_PAYLOAD_BYTES = 6 * MEGABYTE
LAMBDA_ASYNC_PAYLOAD_BYTES = MEGABYTE
# https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
HTTP_PAYLOAD_BYTES = 10 * MEGABYTE
INTEGRATION_SECONDS = 29.0
SOCKET_FRAME_BYTES = 32 * KILOBYTE
SOCKET_MESSAGE_BYTES = 128 * KILOBYTE
SOCKET_IDLE_SECONDS = 600.0
SOCKET_LIFETIME_SECONDS = 7200.0


class StartError(Exception):
    """The twin cannot start or go on; the message says in plain words what to do about it."""


def base_environment() -> dict[str, str]:
    """What every child process needs of this machine's environment, and nothing else of it (no secrets)."""
    wanted = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "SYSTEMROOT")
    return {name: os.environ[name] for name in wanted if name in os.environ}
