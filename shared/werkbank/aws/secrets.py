"""Secrets from Secrets Manager."""

import json
from urllib.parse import quote

import boto3


def read_secret(arn: str) -> dict[str, str]:
    """Return a JSON secret as a mapping."""
    client = boto3.client("secretsmanager")
    content: dict[str, str] = json.loads(client.get_secret_value(SecretId=arn)["SecretString"])
    return content


def read_secret_version(arn: str, *, stage: str | None = None, version: str | None = None) -> tuple[str, str] | None:
    """Return the text and the id of one version of a secret, by its stage or its id; None if there is none."""
    client = boto3.client("secretsmanager")
    wanted = {"VersionStage": stage} if stage else {"VersionId": version or ""}
    try:
        found = client.get_secret_value(SecretId=arn, **wanted)
    except (client.exceptions.ResourceNotFoundException, client.exceptions.InvalidRequestException):
        return None
    return found["SecretString"], found["VersionId"]


def connection_string(secret: dict[str, str]) -> str:
    """Return how to log in to PostgreSQL with a database secret; `host` may be the directory of a Unix socket."""
    user, password, database = (quote(str(secret[key]), safe="") for key in ("username", "password", "dbname"))
    port = f"&port={secret['port']}" if secret.get("port") else ""
    return f"postgresql://{user}:{password}@/{database}?host={quote(secret['host'], safe='')}{port}"
