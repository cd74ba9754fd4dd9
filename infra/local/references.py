"""Resolves the references of a template that moto cannot: nested stacks, APIs and whatever the twin serves itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from infra.local.account import ACCOUNT_ID, REGION, StartError

_PSEUDO_PARAMETERS = {
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT_ID,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::StackName": "werkbank",
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT_ID}:stack/werkbank/local",
}
_PLACEHOLDER = re.compile(r"\$\{([^}!]+)\}")


@dataclass
class References:
    """What `Ref` and `Fn::GetAtt` give for names the twin answers for; every other reference is left to moto."""

    parameters: Mapping[str, str]
    nested: frozenset[str]
    outputs: Mapping[str, str]
    conditions: Mapping[str, Any] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    attributes: dict[tuple[str, str], str] = field(default_factory=dict)
    # The APIs' public addresses on AWS, and where the gateway serves them.
    addresses: dict[str, str] = field(default_factory=dict)

    def resolve(self, node: Any) -> Any:
        """A copy of `node` with every known reference replaced. Raises StartError for an unknown nested output."""
        if isinstance(node, list):
            return [self.resolve(item) for item in node]
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            (function, argument), *_ = node.items()
            if function == "Ref" and (value := self._ref(argument)) is not None:
                return value
            if function == "Fn::GetAtt" and (value := self._attribute(*_pair(argument))) is not None:
                return value
            if function == "Fn::Sub":
                return self._substitute(argument)
            if function == "Fn::If":
                condition, if_true, if_false = argument
                return self.resolve(if_true if self.holds(condition) else if_false)
        return {key: self.resolve(value) for key, value in node.items()}

    def holds(self, condition: Any) -> bool:
        """Whether a condition of the template, given by name or as an expression, is true."""
        if isinstance(condition, str):
            return self.holds(self.conditions[condition])
        (function, argument), *_ = condition.items()
        if function == "Fn::Equals":
            left, right = self.resolve(argument)
            return bool(left == right)
        if function == "Condition":
            return self.holds(argument)
        results = [self.holds(item) for item in argument]
        if function == "Fn::Not":
            return not results[0]
        return all(results) if function == "Fn::And" else any(results)

    def _ref(self, name: str) -> str | None:
        return self.refs.get(name, self.parameters.get(name, _PSEUDO_PARAMETERS.get(name)))

    def _attribute(self, name: str, attribute: str) -> str | None:
        if name in self.nested:
            output = attribute.removeprefix("Outputs.")
            if output not in self.outputs:
                raise StartError(
                    f"The template uses {name}.Outputs.{output}, which the twin has no local value for: "
                    "add it to infra/local/outputs.py."
                )
            return self.outputs[output]
        return self.attributes.get((name, attribute))

    def _substitute(self, argument: Any) -> Any:
        text, extra = (argument, {}) if isinstance(argument, str) else argument
        extra = self.resolve(extra)

        def replace(match: re.Match[str]) -> str:
            name = match.group(1).strip()
            if name in extra:
                return str(extra[name]) if isinstance(extra[name], str) else match.group(0)
            value = self._attribute(*name.split(".", 1)) if "." in name else self._ref(name)
            return match.group(0) if value is None else value

        text = _PLACEHOLDER.sub(replace, text)
        extra = {name: value for name, value in extra.items() if not isinstance(value, str)}
        if "${" not in text:
            return self._local_address(text)
        return {"Fn::Sub": [text, extra] if extra else text}

    def _local_address(self, text: str) -> str:
        for remote, local in self.addresses.items():
            if text.startswith(remote):
                return local + text.removeprefix(remote)
        return text


def _pair(argument: Any) -> tuple[str, str]:
    name, attribute = argument.split(".", 1) if isinstance(argument, str) else (argument[0], ".".join(argument[1:]))
    return name, attribute


def names_in(node: Any) -> set[str]:
    """The logical names that `node` refers to, through Ref, Fn::GetAtt or Fn::Sub."""
    if isinstance(node, list):
        return set().union(*(names_in(item) for item in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    found: set[str] = set()
    for key, value in node.items():
        if key == "Ref":
            found.add(value)
        elif key == "Fn::GetAtt":
            found.add(_pair(value)[0])
        elif key == "Fn::Sub":
            text = value if isinstance(value, str) else value[0]
            found |= {name.split(".")[0].strip() for name in _PLACEHOLDER.findall(text)}
            found |= names_in(value) if not isinstance(value, str) else set()
        else:
            found |= names_in(value)
    return found
