"""How a template is read; what the twin does not know stops it with a sentence, never silently."""  # DP-02

from pathlib import Path

import pytest

from infra.local.account import StartError
from infra.local.apis import read_apis
from infra.local.aws import Aws
from infra.local.deployment import Addresses, deploy
from infra.local.references import References, names_in
from infra.local.template import Template, load_template

from .conftest import FIXTURE


@pytest.fixture(scope="module")
def template() -> Template:
    return load_template(FIXTURE, {"Mandate": "demo"})


def _references(**more: object) -> References:
    return References({"Color": "red"}, frozenset({"Auth"}), {"Issuer": "https://issuer"}, dict(more))


def test_functions_know_their_folder_and_layers(template: Template) -> None:
    code = template.code["EdgeFunction"]
    assert (code.folder, code.layers) == (FIXTURE.parent / "functions" / "edge", (FIXTURE.parent / "layer",))
    assert template.nested == {"Auth", "Database"}


def test_routes_and_authorizers_come_from_the_template(template: Template) -> None:
    outputs = {"Issuer": "i", "ClientId": "c", "OwnerSecretArn": "o"}
    references = References(template.parameters, template.nested, outputs)
    resources = {
        name: {"Type": item["Type"], "Properties": references.resolve(item.get("Properties", {}))}
        for name, item in template.resources.items()
    }
    apis = read_apis(resources, set(template.code))
    routes = {route.key: route.authorizer for route in apis.http}
    assert routes["GET /items/{id}"] is None
    assert (private := routes["ANY /private/{proxy+}"]) is not None
    assert (private.issuer, private.audience) == ("i", ("c",))
    assert apis.socket is not None
    assert (apis.socket.stage, apis.socket.authorizer) == ("live", "GateFunction")
    assert set(apis.socket.routes) == {"$connect", "$disconnect", "$default"}
    assert set(apis.functions()) == {"EdgeFunction", "GateFunction"}


def test_references_are_replaced_where_the_twin_knows_better() -> None:
    references = _references()
    references.refs["Api"] = "api"
    references.addresses["https://api.execute-api"] = "http://127.0.0.1:1"
    assert references.resolve({"Ref": "Color"}) == "red"
    assert references.resolve([{"Fn::GetAtt": ["Auth", "Outputs.Issuer"]}]) == ["https://issuer"]
    assert references.resolve({"Fn::Sub": "https://${Api}.execute-api/live"}) == "http://127.0.0.1:1/live"
    assert references.resolve({"Fn::Sub": ["${A}-${Color}", {"A": {"Ref": "Color"}}]}) == "red-red"
    # What moto creates is moto's to answer.
    assert references.resolve({"Fn::Sub": "${Queue.Arn}/${Color}"}) == {"Fn::Sub": "${Queue.Arn}/red"}
    assert references.resolve({"Fn::GetAtt": ["Queue", "Arn"]}) == {"Fn::GetAtt": ["Queue", "Arn"]}


def test_conditions_are_decided() -> None:
    references = _references(
        IsRed={"Fn::Equals": [{"Ref": "Color"}, "red"]},
        IsBlue={"Fn::Not": [{"Condition": "IsRed"}]},
        Any={"Fn::Or": [{"Condition": "IsBlue"}, {"Condition": "IsRed"}]},
        All={"Fn::And": [{"Condition": "IsBlue"}, {"Condition": "IsRed"}]},
    )
    assert [references.holds(name) for name in ("IsRed", "IsBlue", "Any", "All")] == [True, False, True, False]
    assert references.resolve({"Fn::If": ["IsBlue", 1, {"Ref": "Color"}]}) == "red"


def test_names_are_found_in_any_intrinsic() -> None:
    node = {"a": [{"Ref": "One"}, {"Fn::Sub": "x/${Two.Arn}/${Three}"}], "b": {"Fn::GetAtt": ["Four", "Arn"]}}
    assert names_in(node) == {"One", "Two", "Three", "Four"}


def test_an_unknown_output_names_itself() -> None:
    with pytest.raises(StartError, match=r"Auth\.Outputs\.Nothing"):
        _references().resolve({"Fn::GetAtt": ["Auth", "Outputs.Nothing"]})


def test_an_unknown_resource_type_names_itself() -> None:
    template = Template({}, {"Cluster": {"Type": "AWS::EKS::Cluster", "Properties": {}}}, {})
    with pytest.raises(StartError, match="AWS::EKS::Cluster"):
        deploy(template, Aws("http://127.0.0.1:1"), {}, Addresses("", "", ""))


def test_a_template_that_does_not_translate_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "template.yaml"
    broken.write_text(
        "Resources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties: {Timeout: [1], Events: 3}\n"
    )
    with pytest.raises(StartError, match="does not translate"):
        load_template(broken)
    broken.write_text("Resources: [")
    with pytest.raises(StartError, match="not valid YAML"):
        load_template(broken)
