"""Queues, bucket, gateways and logs: settings whose absence shows only in production."""

import json
import re

from tests.template.deployment import functions, resources, template


def test_queues_wait_six_times_as_long_as_their_function() -> None:
    queues = resources("AWS::SQS::Queue")
    for function in functions().values():
        for event in function.properties.get("Events", {}).values():
            if event["Type"] == "SQS":
                queue = queues[event["Properties"]["Queue"]["Fn::GetAtt"][0]]
                assert queue["VisibilityTimeout"] >= 6 * function.timeout_seconds, function.name
                assert event["Properties"]["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_queues_are_encrypted_and_end_somewhere() -> None:
    queues = resources("AWS::SQS::Queue")
    assert all(queue["SqsManagedSseEnabled"] for queue in queues.values())
    policies = [queue["RedrivePolicy"] for queue in queues.values() if "RedrivePolicy" in queue]
    dead = {json.dumps(policy["deadLetterTargetArn"]) for policy in policies}
    assert dead == {json.dumps({"Fn::GetAtt": ["DeadLetterQueue", "Arn"]})}


def test_bucket_is_private_encrypted_and_versioned() -> None:
    (bucket,) = resources("AWS::S3::Bucket").values()
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["BucketEncryption"]
    (cors,) = bucket["CorsConfiguration"]["CorsRules"]
    assert "*" not in cors["AllowedOrigins"]


def test_only_the_page_and_the_interface_description_need_no_token() -> None:
    routes = [item for item in resources("AWS::ApiGatewayV2::Route").values() if item["ApiId"] == {"Ref": "HttpApi"}]
    open_routes = {route["RouteKey"] for route in routes if route["AuthorizationType"] == "NONE"}
    assert open_routes == {"$default", "GET /api/openapi.json"}
    (other,) = (route for route in routes if route["AuthorizationType"] != "NONE")
    assert other["RouteKey"] == "ANY /api/{proxy+}"
    assert other["AuthorizationType"] == "JWT"


def test_a_socket_opens_with_a_ticket_only() -> None:
    routes = [item for item in resources("AWS::ApiGatewayV2::Route").values() if item["ApiId"] == {"Ref": "SocketApi"}]
    assert {route["RouteKey"] for route in routes} == {"$connect", "$disconnect", "$default"}
    (connect,) = (route for route in routes if route["RouteKey"] == "$connect")
    assert connect["AuthorizationType"] == "CUSTOM"
    assert resources("AWS::ApiGatewayV2::Authorizer")["SocketAuthorizer"]["IdentitySource"] == [
        "route.request.querystring.ticket"
    ]


def test_every_gateway_target_may_be_invoked() -> None:
    permitted = {item["FunctionName"]["Ref"] for item in resources("AWS::Lambda::Permission").values()}
    edges = ("socket", "authorize_socket", "api", "web")
    assert permitted == {functions()[name].logical_id for name in edges}


def test_access_logs_hold_no_query_string() -> None:
    # The socket's ticket and a search's words travel in it.
    for stage in resources("AWS::ApiGatewayV2::Stage").values():
        assert "query" not in stage.get("AccessLogSettings", {}).get("Format", "").lower()


def test_logs_end_some_day() -> None:
    assert all("RetentionInDays" in group for group in resources("AWS::Logs::LogGroup").values())
    assert template()["Globals"]["Function"]["LoggingConfig"]["LogGroup"] == {"Ref": "FunctionLogs"}


def test_migrations_run_again_when_the_sql_changes() -> None:
    # DP-01
    (migration,) = resources("Custom::Migration").values()
    assert migration["Migrations"] == {"Ref": "MigrationsLayer"}
    assert resources("AWS::Serverless::LayerVersion")["MigrationsLayer"]["ContentUri"] == "infra/migrations"


def test_nested_stacks_get_what_they_ask_for() -> None:
    # `sam validate` looks into one template at a time.
    for name, application in resources("AWS::Serverless::Application").items():
        declared = template(application["Location"]).get("Parameters", {})
        given = set(application.get("Parameters", {}))
        assert given <= set(declared), name
        assert {key for key, item in declared.items() if "Default" not in item} <= given, name


def test_nested_outputs_exist() -> None:
    applications = resources("AWS::Serverless::Application")
    references = re.findall(r'"(\w+)", "Outputs\.(\w+)"', json.dumps(template()))
    assert references
    for stack, output in references:
        assert output in template(applications[stack]["Location"])["Outputs"], f"{stack}.{output}"
