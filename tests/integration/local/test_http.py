"""The HTTP API of the twin, as API Gateway would serve it."""  # DP-02

import gzip
import json
import time

import httpx
import jwt

from infra.local.stack import LocalStack


def test_default_route_gets_a_payload_of_version_2(page: httpx.Client) -> None:
    answer = page.post(
        "/any/where?a=1&b=x%20y&a=2", content="hällo", headers={"X-Twice": "1", "Content-Type": "text/plain"}
    )
    event = answer.json()
    assert event["version"] == "2.0"
    assert event["routeKey"] == "$default"
    assert event["rawPath"] == "/any/where"
    assert event["rawQueryString"] == "a=1&b=x%20y&a=2"
    assert event["queryStringParameters"] == {"a": "1,2", "b": "x y"}
    assert event["headers"]["x-twice"] == "1"
    assert (event["body"], event["isBase64Encoded"]) == ("hällo", False)
    assert event["requestContext"]["http"]["method"] == "POST"
    assert "authorizer" not in event["requestContext"]


def test_bytes_arrive_as_base64_and_cookies_apart(page: httpx.Client) -> None:
    headers = {"Content-Type": "application/pdf", "Cookie": "a=1; b=2"}
    event = page.put("/upload", content=b"%PDF\xff", headers=headers).json()
    assert (event["body"], event["isBase64Encoded"]) == ("JVBERv8=", True)
    assert event["cookies"] == ["a=1", "b=2"]
    assert "cookie" not in event["headers"]


def test_the_most_specific_route_wins(page: httpx.Client) -> None:
    event = page.get("/items/7").json()
    assert (event["routeKey"], event["pathParameters"]) == ("GET /items/{id}", {"id": "7"})
    assert page.get("/items/7/more").json()["routeKey"] == "$default"
    assert page.delete("/items/7").json()["routeKey"] == "$default"


def test_binary_answers_headers_and_cookies(page: httpx.Client) -> None:
    answer = page.get("/picture")
    assert answer.content == b"\x89PNG"
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]


def test_an_exception_shows_nothing_of_itself(page: httpx.Client) -> None:
    answer = page.get("/broken")
    assert (answer.status_code, answer.json()) == (500, {"message": "Internal Server Error"})


def test_more_than_ten_megabytes_are_refused(page: httpx.Client) -> None:
    assert page.post("/upload", content=bytes(10 * 1024 * 1024 + 1)).status_code == 413


def test_a_private_route_wants_a_token(page: httpx.Client) -> None:
    answer = page.get("/private/thing")
    assert (answer.status_code, answer.json()) == (401, {"message": "Unauthorized"})
    assert page.get("/private/thing", headers={"Authorization": "Bearer nonsense"}).status_code == 401


def test_claims_arrive_as_text_like_from_api_gateway(twin: LocalStack, page: httpx.Client) -> None:
    headers = {"Authorization": f"Bearer {twin.access_token()}"}
    event = page.get("/private/thing", headers=headers).json()
    claims = event["requestContext"]["authorizer"]["jwt"]["claims"]
    assert sorted(claims["cognito:groups"].strip("[]").split()) == ["mandate:demo", "role:admin"]
    assert claims["username"] == "demo"
    assert claims["exp"].isdigit()


def test_a_forged_or_foreign_token_is_refused(twin: LocalStack, page: httpx.Client) -> None:
    claims = jwt.decode(twin.access_token(), options={"verify_signature": False})
    forged = jwt.encode(claims, "x" * 32, algorithm="HS256", headers={"kid": "dummy"})
    assert page.get("/private/thing", headers={"Authorization": f"Bearer {forged}"}).status_code == 401


def test_other_clients_and_old_tokens_are_refused(twin: LocalStack, page: httpx.Client) -> None:
    sign = _moto_signature(twin)
    claims = jwt.decode(twin.access_token(), options={"verify_signature": False})
    assert page.get("/private/x", headers=sign(claims)).status_code == 200
    assert page.get("/private/x", headers=sign({**claims, "client_id": "other"})).status_code == 401
    assert page.get("/private/x", headers=sign({**claims, "iss": "https://elsewhere"})).status_code == 401
    assert page.get("/private/x", headers=sign({**claims, "exp": int(time.time()) - 1})).status_code == 401


def test_functions_get_their_environment_as_on_aws(twin: LocalStack, page: httpx.Client) -> None:
    answer = page.get("/environment").json()
    environment = answer["environment"]
    assert answer["greeting"] == "good morning"  # a file of a layer, found through a path under /opt
    assert environment["MANDATE"] == "demo"
    assert environment["SOCKET_URL"] == f"{twin.url.replace('http', 'ws')}/live"
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == "werkbank-EdgeFunction"
    assert environment["AWS_ENDPOINT_URL"] == twin.aws_endpoint
    assert "ANTHROPIC_API_KEY" not in environment
    secret = twin.client("secretsmanager").get_secret_value(SecretId=environment["MODEL_KEYS_SECRET_ARN"])
    expected = {"anthropicApiKey": "a-key", "privateLlmUrl": "http://127.0.0.1:1/v1", "privateLlmTools": "false"}
    assert json.loads(secret["SecretString"]) == expected


def test_a_page_may_upload_to_a_presigned_address(twin: LocalStack) -> None:
    s3 = twin.client("s3")
    bucket = twin.function_environment("EdgeFunction")["BUCKET_NAME"]
    parameters = {"Bucket": bucket, "Key": "from-page.txt", "ContentType": "text/plain"}
    url = s3.generate_presigned_url("put_object", Params=parameters)
    asking = {
        "Origin": twin.url,
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "content-type",
    }
    allowed = httpx.options(url, headers=asking)
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] in ("*", twin.url)
    assert "content-type" in allowed.headers["access-control-allow-headers"].lower()
    stored = httpx.put(url, content=b"hello", headers={"Origin": twin.url, "Content-Type": "text/plain"})
    assert stored.status_code == 200
    assert stored.headers["access-control-allow-origin"] in ("*", twin.url)
    read = httpx.get(s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": "from-page.txt"}))
    assert (read.content, read.headers["content-type"]) == (b"hello", "text/plain")


class _moto_signature:  # noqa: N801 (used like a function)
    """Signs any claims with the key that moto's Cognito uses, which is part of its source."""

    def __init__(self, twin: LocalStack) -> None:
        from importlib.resources import files

        packed = files("moto.cognitoidp").joinpath("resources/jwks-private.json.gz").read_bytes()
        key = json.loads(gzip.decompress(packed))
        self._key = jwt.PyJWK(key, algorithm="RS256").key
        self._kid = jwt.get_unverified_header(twin.access_token())["kid"]

    def __call__(self, claims: dict[str, object]) -> dict[str, str]:
        token = jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": self._kid})
        return {"Authorization": f"Bearer {token}"}


def test_other_web_pages_reach_nothing(twin: LocalStack, page: httpx.Client) -> None:
    bucket = twin.function_environment("EdgeFunction")["BUCKET_NAME"]
    elsewhere = {"Origin": "https://evil.example"}
    rebound = {"Host": "evil.example"}
    for headers in (elsewhere, rebound):
        assert httpx.get(f"{twin.aws_endpoint}/{bucket}", headers=headers).status_code == 403
    assert page.get("/", headers=rebound).status_code == 400
    internal = twin.function_environment("EdgeFunction")["SOCKET_ENDPOINT"].removesuffix("/live")
    assert httpx.post(f"{internal}/invoke/werkbank-StepFunction", headers=elsewhere).status_code == 403
