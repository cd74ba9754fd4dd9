"""Deploys a translated template into moto's CloudFormation and reports what the twin has to run around it.

Resources fall into three classes, each with its own list below: those moto creates, those the twin serves itself, and
those that have no meaning on one machine. A type on no list stops the start, so that nothing is left out unnoticed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.local.account import ACCOUNT_ID, REGION, STACK_NAME, StartError
from infra.local.apis import Apis, read_apis
from infra.local.aws import Aws
from infra.local.references import References, names_in
from infra.local.template import Template, Tree

CREATED = {
    "AWS::DynamoDB::Table",
    "AWS::Events::Rule",
    "AWS::IAM::Role",
    "AWS::Lambda::Function",
    "AWS::S3::Bucket",
    "AWS::SQS::Queue",
    "AWS::StepFunctions::StateMachine",
}
CUSTOM = ("AWS::CloudFormation::CustomResource", "Custom::")
API = "AWS::ApiGatewayV2::"  # read by apis.py, served by the gateway
STORED_SECRET = "AWS::SecretsManager::Secret"  # noqa: S105 (created by API call)
EVENT_SOURCE = "AWS::Lambda::EventSourceMapping"
IGNORED = (
    "AWS::CloudWatch::",
    "AWS::Events::EventBusPolicy",
    "AWS::IAM::",  # nothing enforces policies here; roles must exist, no more
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Permission",
    "AWS::Logs::",
    "AWS::EC2::",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::",
    "AWS::SQS::QueuePolicy",
    "AWS::SSM::",
    "AWS::Budgets::",
)
# Properties that moto does not know or that mean nothing here.
_DROPPED = {
    "AWS::IAM::Role": ("Policies", "ManagedPolicyArns", "Tags"),
    "AWS::Lambda::Function": ("Layers", "VpcConfig", "Tags", "EphemeralStorage", "DeadLetterConfig"),
    "AWS::StepFunctions::StateMachine": ("LoggingConfiguration", "TracingConfiguration"),
    # moto answers every origin; nothing here lives long enough for a life cycle.
    "AWS::S3::Bucket": ("LifecycleConfiguration", "BucketEncryption", "CorsConfiguration", "OwnershipControls"),
}
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_APPLIED_LATER = ("NotificationConfiguration", "VersioningConfiguration", "LoggingConfig")


@dataclass(frozen=True)
class Addresses:
    """Where the twin serves what has a public address on AWS, without a trailing slash."""

    page: str
    socket: str
    management: str


@dataclass(frozen=True)
class FunctionSpec:
    """One function of the template, ready to be started."""

    name: str
    arn: str
    handler: str
    folder: Path
    layers: tuple[Path, ...]
    timeout_seconds: float
    memory_megabytes: int
    log_format: str
    environment: Mapping[str, str]


@dataclass(frozen=True)
class QueueSource:
    """Messages of `queue_url` go to `function` in batches; with `partial`, it may name the ones that failed."""

    queue_url: str
    queue_arn: str
    function: str
    batch_size: int
    partial: bool


@dataclass(frozen=True)
class CustomResource:
    """A resource that a function of the template creates at deploy time, e.g. the database schema."""

    name: str
    kind: str
    function: str
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Bucket:
    """A bucket and what CloudFormation would have configured on it."""

    name: str
    versioned: bool
    notifies: bool


@dataclass(frozen=True)
class Deployment:
    """What runs after the deployment."""

    functions: Mapping[str, FunctionSpec]
    sources: tuple[QueueSource, ...]
    custom: tuple[CustomResource, ...]
    buckets: tuple[Bucket, ...]
    apis: Apis


def deploy(template: Template, aws: Aws, outputs: Mapping[str, str], addresses: Addresses) -> Deployment:
    """Creates the template's stack in moto; `outputs` stand in for those of the nested stacks.

    Raises StartError for a resource type the twin does not know or a stack that moto refuses.
    """
    _check_types(template.resources)
    references = References(template.parameters, template.nested, outputs, template.conditions)
    resources = _relevant(template.resources, references)
    apis = read_apis(resources, set(template.code))
    custom = _custom_resources(resources, set(template.code))
    _answer_for_the_rest(references, template.resources, addresses)
    for name in _of_type(resources, STORED_SECRET):
        secret = resources[name]["Properties"].get("SecretString", "{}")
        references.refs[name] = aws.put_secret(f"{STACK_NAME}/{name}", secret)
    resources = {
        name: {**item, "Properties": references.resolve(item["Properties"])} for name, item in resources.items()
    }
    created = {name: _adapted(name, item) for name, item in resources.items() if item["Type"] in CREATED}
    physical = _create_stack(aws, created)
    return Deployment(
        functions=_functions(template, aws, resources, physical),
        sources=_sources(aws, resources, physical),
        custom=custom,
        buckets=tuple(_bucket(physical[name], resources[name]) for name in _of_type(created, "AWS::S3::Bucket")),
        apis=apis,
    )


def _check_types(resources: dict[str, Tree]) -> None:
    known = (*CREATED, *IGNORED, *CUSTOM, EVENT_SOURCE, API, STORED_SECRET)
    unknown = sorted({item["Type"] for item in resources.values() if not item["Type"].startswith(known)})
    if unknown:
        raise StartError(f"infra/local/deployment.py does not know these resource types: {', '.join(unknown)}")


def _relevant(resources: dict[str, Tree], references: References) -> dict[str, Tree]:
    """The resources the twin has a use for, without what it drops, with parameters and nested outputs filled in."""
    relevant: dict[str, Tree] = {}
    for name, item in resources.items():
        kind = item["Type"]
        if (kind not in CREATED and kind.startswith(IGNORED)) or (
            "Condition" in item and not references.holds(item["Condition"])
        ):
            continue
        properties = {
            key: value for key, value in item.get("Properties", {}).items() if key not in _DROPPED.get(kind, ())
        }
        relevant[name] = {"Type": kind, "Properties": references.resolve(properties)}
    return relevant


def _answer_for_the_rest(references: References, resources: dict[str, Tree], addresses: Addresses) -> None:
    """The twin answers references to everything that moto does not create, and to what moto has no attribute for."""
    for name, item in resources.items():
        kind = item["Type"]
        if kind in CREATED:
            continue
        references.refs[name] = name.lower()
        references.attributes[name, "Arn"] = f"arn:aws:iam::{ACCOUNT_ID}:role/{name}"
        if kind == "AWS::ApiGatewayV2::Stage":
            references.refs[name] = item["Properties"]["StageName"]
        if kind == "AWS::ApiGatewayV2::Api":
            host = f"{name.lower()}.execute-api.{REGION}.amazonaws.com"
            socket = item["Properties"].get("ProtocolType") == "WEBSOCKET"
            references.addresses[f"https://{host}"] = addresses.management if socket else addresses.page
            references.addresses[f"wss://{host}"] = addresses.socket


def _adapted(name: str, item: Tree) -> Tree:
    """`item` in the form that moto's CloudFormation understands."""
    kind = item["Type"]
    properties = {key: value for key, value in item["Properties"].items() if key not in _APPLIED_LATER}
    if kind == "AWS::Lambda::Function":
        properties.setdefault("FunctionName", f"{STACK_NAME}-{name}")
    if kind == "AWS::S3::Bucket":
        # The name stays the same over restarts, because the objects do.
        properties.setdefault("BucketName", f"{STACK_NAME}-{name}".lower())
    if kind == "AWS::StepFunctions::StateMachine":
        properties.setdefault("StateMachineName", f"{STACK_NAME}-{name}")
        properties["DefinitionString"] = _definition(properties)
    return {"Type": kind, "Properties": properties}


def _definition(properties: Tree) -> Any:
    text = properties["DefinitionString"]
    if isinstance(text, dict):  # the translator joins the lines of the pretty-printed JSON
        separator, lines = text["Fn::Join"]
        text = separator.join(lines)
    # Not Fn::Sub: moto's takes `$$` for an escaped `$`, and Step Functions' context object (`$$.Task.Token`) is lost.
    values = properties.get("DefinitionSubstitutions", {})
    parts = _PLACEHOLDER.split(text)
    return {"Fn::Join": ["", [values[part] if at % 2 else part for at, part in enumerate(parts)]]}


def _create_stack(aws: Aws, resources: dict[str, Tree]) -> dict[str, str]:
    """The physical ids of the created resources by their logical names."""
    cloudformation = aws.client("cloudformation")
    body = json.dumps({"Resources": resources})
    cloudformation.create_stack(StackName=STACK_NAME, TemplateBody=body, Capabilities=["CAPABILITY_IAM"])
    stack = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"][0]
    if stack["StackStatus"] != "CREATE_COMPLETE":
        raise StartError(f"moto could not create the stack: {stack.get('StackStatusReason', stack['StackStatus'])}")
    listed = cloudformation.describe_stack_resources(StackName=STACK_NAME)["StackResources"]
    return {item["LogicalResourceId"]: item["PhysicalResourceId"] for item in listed}


def _of_type(resources: dict[str, Tree], kind: str) -> list[str]:
    return [name for name, item in resources.items() if item["Type"] == kind]


def _functions(
    template: Template, aws: Aws, resources: dict[str, Tree], physical: dict[str, str]
) -> dict[str, FunctionSpec]:
    client = aws.client("lambda")
    functions: dict[str, FunctionSpec] = {}
    for name, code in template.code.items():
        if name not in resources:
            continue
        found = client.get_function_configuration(FunctionName=physical[name])
        functions[name] = FunctionSpec(
            name=found["FunctionName"],
            arn=found["FunctionArn"],
            handler=found["Handler"],
            folder=code.folder,
            layers=code.layers,
            timeout_seconds=float(found["Timeout"]),
            memory_megabytes=int(found["MemorySize"]),
            log_format=resources[name]["Properties"].get("LoggingConfig", {}).get("LogFormat", "Text"),
            environment=found.get("Environment", {}).get("Variables", {}),
        )
    return functions


def _sources(aws: Aws, resources: dict[str, Tree], physical: dict[str, str]) -> tuple[QueueSource, ...]:
    queues = set(_of_type(resources, "AWS::SQS::Queue"))
    functions = set(_of_type(resources, "AWS::Lambda::Function"))
    sources = []
    for name in _of_type(resources, EVENT_SOURCE):
        properties = resources[name]["Properties"]
        queue = next(iter(names_in(properties["EventSourceArn"]) & queues), None)
        if queue is None:
            raise StartError(f"{name}: the twin polls SQS queues only.")
        url = physical[queue]
        found = aws.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        sources.append(
            QueueSource(
                queue_url=url,
                queue_arn=found["Attributes"]["QueueArn"],
                function=next(iter(names_in(properties["FunctionName"]) & functions)),
                batch_size=int(properties.get("BatchSize", 10)),
                partial="ReportBatchItemFailures" in properties.get("FunctionResponseTypes", ()),
            )
        )
    return tuple(sources)


def _custom_resources(resources: dict[str, Tree], functions: set[str]) -> tuple[CustomResource, ...]:
    found = []
    for name, item in resources.items():
        if item["Type"].startswith(CUSTOM):
            properties = dict(item["Properties"])
            function = next(iter(names_in(properties["ServiceToken"]) & functions))
            found.append(CustomResource(name, item["Type"], function, properties))
    return tuple(found)


def _bucket(name: str, item: Tree) -> Bucket:
    properties = item["Properties"]
    bridge = properties.get("NotificationConfiguration", {}).get("EventBridgeConfiguration", {})
    enabled = str(bridge.get("EventBridgeEnabled", bool(bridge))).lower() == "true"
    versioned = properties.get("VersioningConfiguration", {}).get("Status") == "Enabled"
    return Bucket(name, versioned, enabled)
