"""Least privilege: wildcards only where a reason is written down, state machines and secrets only for who needs them.

What SAM adds itself is outside: AWS's managed policies for logs, traces, network interfaces and queue polling.
"""

import json
import re
from collections.abc import Iterator

import pytest

from tests.template.deployment import ROOT, Tree, functions, template

# Resources with a wildcard that a statement may name, and why.
REASONS = {
    r"\$\{Bucket\.Arn\}/(files|work)/\*": "objects are told apart by prefix only",
    r".*:execution:\$\{AgentRun\.Name\}:\*": "executions are named after runs",
    r".*:bedrock:\*:.*:(foundation-model|inference-profile)/\*": "models.toml decides; profiles route across regions",
    r".*:bedrock:\*:.*:project/default": "the secret decides on the region",
    r".*:\$\{SocketApi\}/\$\{SocketStage\}/POST/@connections/\*": "connections come and go",
}
# Statements that may act on everything, and why.
EVERYTHING = {"DeliverLogs": "log delivery actions know no resources"}

TEMPLATES = ["template.yaml", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "infra").glob("*.yaml")))]


def statements(node: object) -> Iterator[Tree]:
    """Every policy statement anywhere in a template that allows something."""
    if isinstance(node, list):
        for item in node:
            yield from statements(item)
    elif isinstance(node, dict):
        if node.get("Effect") == "Allow":
            yield node
        for item in node.values():
            yield from statements(item)


def listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def is_listed_wildcard(resource: object) -> bool:
    text = resource.get("Fn::Sub") if isinstance(resource, dict) else resource
    return isinstance(text, str) and any(re.fullmatch(pattern, text) for pattern in REASONS)


@pytest.mark.parametrize("path", TEMPLATES)
def test_no_wildcard_without_a_reason(path: str) -> None:
    for statement in statements(template(path)):
        assert not [action for action in listed(statement["Action"]) if "*" in str(action)], statement
        assert statement.get("Principal") != "*", statement
        for resource in listed(statement.get("Resource", [])):
            if "*" in json.dumps(resource):
                assert is_listed_wildcard(resource) or statement.get("Sid") in EVERYTHING, statement


def users_of(logical_id: str) -> set[str]:
    """The functions whose properties name a resource; rules that call a function are resources of their own."""
    pattern = re.compile(rf'"{logical_id}"|\$\{{{logical_id}[}}.]')
    own = {
        name: {key: value for key, value in function.properties.items() if key != "Events"}
        for name, function in functions().items()
    }
    return {name for name, properties in own.items() if pattern.search(json.dumps(properties))}


def test_only_the_starter_knows_a_state_machine() -> None:
    # Anyone else would close a cycle: state machine -> function -> state machine.
    assert users_of("AgentRun") == {"socket", "api"}  # api only wakes it up and stops it
    assert users_of("IndexFile") == {"index_upload"}


def test_policies_match_the_environment() -> None:
    for name, function in functions().items():
        policies = json.dumps(function.properties.get("Policies", []))
        assert ("ReadDatabaseSecret" in policies) == ("DATABASE_SECRET_ARN" in function.variables), name
        assert ("ReadModelKeys" in policies) == ("MODEL_KEYS_SECRET_ARN" in function.variables), name
        assert ("PushToSockets" in policies) == ("SOCKET_ENDPOINT" in function.variables), name
        assert "Bucket.Arn" not in policies or "BUCKET_NAME" in function.variables, name


def test_bedrock_is_only_called() -> None:
    # Converse's stream, and InvokeModel for pictures; nothing that manages models or projects.
    actions = {
        str(action)
        for statement in statements(template("template.yaml"))
        for action in listed(statement["Action"])
        if str(action).startswith("bedrock")
    }
    assert actions == {"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"}


def test_only_migrate_is_the_owner() -> None:
    assert {name for name, item in functions().items() if "OWNER_SECRET_ARN" in item.variables} == {"migrate"}


def test_objects_are_granted_by_prefix() -> None:
    for name, function in functions().items():
        for statement in statements(function.properties):
            actions = {str(action) for action in listed(statement["Action"])}
            if any(action.startswith("s3:") for action in actions - {"s3:ListBucket"}):
                assert re.fullmatch(r"\$\{Bucket\.Arn\}/(files|work)/\*", statement["Resource"]["Fn::Sub"]), name


@pytest.mark.parametrize("path", TEMPLATES)
def test_outputs_carry_no_secret(path: str) -> None:
    for name, output in template(path).get("Outputs", {}).items():
        text = json.dumps(output["Value"])
        assert "resolve:" not in text, name
        assert "assword" not in text, name
