"""Forward-only migrations: plain SQL files `NNNN_name.sql`, each applied once, in one transaction."""

import re
from pathlib import Path

import psycopg

_NAME = re.compile(r"\d{4}_\w+\.sql")
_LOCK = 7_201_118  # any fixed number: two deploys must not migrate at once


def migrate(connection_string: str, folder: Path, app_role_password: str) -> list[str]:
    """Apply what is new and return its names. Creates the functions' role if it is missing.

    Raises:
        psycopg.Error: a migration failed; nothing of it was applied, the ones before it stay.
    """
    with psycopg.connect(connection_string, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
        _ensure_app_role(connection, app_role_password)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_migration (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())"
        )
        applied = {row[0] for row in connection.execute("SELECT name FROM schema_migration")}
        pending = sorted(path for path in folder.iterdir() if _NAME.fullmatch(path.name) and path.name not in applied)
        for path in pending:
            with connection.transaction():
                connection.execute(path.read_bytes())
                connection.execute("INSERT INTO schema_migration (name) VALUES (%s)", (path.name,))
        return [path.name for path in pending]


def _ensure_app_role(connection: psycopg.Connection, password: str) -> None:
    exists = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'werkbank_app'").fetchone()
    if not exists:
        quoted = psycopg.sql.Literal(password)
        connection.execute(psycopg.sql.SQL("CREATE ROLE werkbank_app LOGIN NOBYPASSRLS PASSWORD {}").format(quoted))
