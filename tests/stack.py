"""The whole system from the real template, with a scripted model server in place of a private LLM."""

import tempfile
import threading
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from infra.local.client import Client
from infra.local.stack import LocalStack
from tests.scripted_server import Answer, Request, scripted_server


class Script:
    """What the model says in each test: a question's text names its script."""

    def __init__(self) -> None:
        self._answers: dict[str, list[Answer]] = {}
        self.requests: dict[str, list[Request]] = defaultdict(list)
        self._lock = threading.Lock()

    def add(self, *answers: Answer, about: str = "Question") -> str:
        """Return a question `about` something that gets these answers, one a request; the last is repeated."""
        question = f"{about} {uuid.uuid4()}"
        self._answers[question] = list(answers)
        return question

    def answer_for(self, request: Request) -> Answer:
        """Answer a request by the question it holds."""
        messages = request["messages"]
        assert isinstance(messages, list)
        told = str([message for message in messages if message["role"] == "user"][-1])
        # What was asked before may be told along with it, as a memory.
        question = min((question for question in self._answers if question in told), key=told.index)
        with self._lock:
            self.requests[question].append(request)
            answers = self._answers[question]
            return answers.pop(0) if len(answers) > 1 else answers[0]


@contextmanager
def temporary_stack(environment: Mapping[str, str]) -> Iterator[LocalStack]:
    """Run the system until the block ends, with the model keys of this environment and no data of before."""
    with (
        tempfile.TemporaryDirectory(prefix="werkbank-stack-") as folder,
        LocalStack(state_dir=Path(folder), environment=environment) as stack,
    ):
        yield stack


@contextmanager
def scripted_stack(script: Script, environment: Mapping[str, str] | None = None) -> Iterator[LocalStack]:
    """Run the system until the block ends, with a model that follows the script, and other keys where given."""
    with (
        scripted_server(script.answer_for) as server,
        temporary_stack(
            {"WERKBANK_PRIVATE_LLM_URL": server.url, "WERKBANK_PRIVATE_LLM_MODEL": "scripted", **(environment or {})}
        ) as stack,
    ):
        yield stack


def new_user(stack: LocalStack, mandate: str, *roles: str) -> Client:
    """Return a new user of a mandate, signed in."""
    cognito, name, password = stack.client("cognito-idp"), f"user-{uuid.uuid4()}", f"Aa1-{uuid.uuid4()}"
    (pool,) = cognito.list_user_pools(MaxResults=1)["UserPools"]
    cognito.admin_create_user(UserPoolId=pool["Id"], Username=name)
    cognito.admin_set_user_password(UserPoolId=pool["Id"], Username=name, Password=password, Permanent=True)
    for group in (f"mandate:{mandate}", *(f"role:{role}" for role in roles)):
        if group not in {item["GroupName"] for item in cognito.list_groups(UserPoolId=pool["Id"])["Groups"]}:
            cognito.create_group(UserPoolId=pool["Id"], GroupName=group)
        cognito.admin_add_user_to_group(UserPoolId=pool["Id"], Username=name, GroupName=group)
    tokens = cognito.admin_initiate_auth(
        UserPoolId=pool["Id"],
        ClientId=stack.client_id,
        AuthFlow="ADMIN_USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": name, "PASSWORD": password},
    )
    client = Client(stack.url)
    client.use_token(tokens["AuthenticationResult"]["AccessToken"])
    return client
