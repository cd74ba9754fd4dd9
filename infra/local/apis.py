"""Reads the HTTP and the WebSocket API out of a translated template into plain values the gateway serves."""

from dataclasses import dataclass, field

from infra.local.account import StartError
from infra.local.references import names_in
from infra.local.template import Tree


@dataclass(frozen=True)
class JwtAuthorizer:
    """Who may call a route: tokens of `issuer` for one of `audience`, with one of `scopes` if there are any."""

    issuer: str
    audience: tuple[str, ...]
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True)
class HttpRoute:
    """A route of the HTTP API: `method` is ANY or an HTTP method, `path` has `{name}` and `{name+}` variables."""

    method: str
    path: str
    function: str
    authorizer: JwtAuthorizer | None

    @property
    def key(self) -> str:
        """The route key as the function sees it, e.g. `GET /files/{id}` or `$default`."""
        return "$default" if self.path == "$default" else f"{self.method} {self.path}"


@dataclass(frozen=True)
class SocketRoute:
    """A route of the WebSocket API; `replies` when the function's answer goes back over the socket."""

    key: str
    function: str
    replies: bool


@dataclass(frozen=True)
class SocketApi:
    """The WebSocket API: one stage, routes by key, and the function that decides on $connect."""

    name: str
    stage: str
    selector: str
    routes: dict[str, SocketRoute] = field(default_factory=dict)
    authorizer: str | None = None
    identity_sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Apis:
    """Everything the gateway has to serve."""

    http: tuple[HttpRoute, ...]
    socket: SocketApi | None

    def functions(self) -> list[str]:
        """The functions behind the edges, each once."""
        names = [route.function for route in self.http]
        if self.socket:
            names += [route.function for route in self.socket.routes.values()]
            names += [self.socket.authorizer] if self.socket.authorizer else []
        return list(dict.fromkeys(names))


def read_apis(resources: dict[str, Tree], functions: set[str]) -> Apis:
    """The APIs among `resources`, whose parameters and nested outputs are already resolved.

    Raises StartError when a route leads to no function.
    """
    routes: list[HttpRoute] = []
    socket: SocketApi | None = None
    for name, resource in resources.items():
        if resource["Type"] != "AWS::ApiGatewayV2::Api":
            continue
        parts = _Parts(name, resources, functions)
        if resource["Properties"].get("ProtocolType") == "WEBSOCKET":
            socket = _socket_api(name, resource["Properties"], parts)
        elif "Body" in resource["Properties"]:
            raise StartError(f"{name}: the twin reads routes from AWS::ApiGatewayV2::Route, not from an OpenAPI body.")
        else:
            routes += _http_routes(parts)
    return Apis(tuple(routes), socket)


class _Parts:
    """The resources of one API by their kind: Route, Integration, Authorizer, Stage, RouteResponse."""

    def __init__(self, api: str, resources: dict[str, Tree], functions: set[str]) -> None:
        self._mine = {
            name: item for name, item in resources.items() if api in names_in(item["Properties"].get("ApiId"))
        }
        self._functions = functions

    def of_kind(self, kind: str) -> dict[str, Tree]:
        """Logical name → properties."""
        wanted = f"AWS::ApiGatewayV2::{kind}"
        return {name: item["Properties"] for name, item in self._mine.items() if item["Type"] == wanted}

    def function_of(self, route: Tree) -> str:
        """The function that a route's integration invokes."""
        integrations = self.of_kind("Integration")
        name = _only(names_in(route["Target"]) & set(integrations), route["RouteKey"])
        return self.function_in(integrations[name]["IntegrationUri"], route["RouteKey"])

    def authorizer_of(self, route: Tree) -> Tree:
        """The properties of a route's authorizer."""
        return self.of_kind("Authorizer")[_only(names_in(route["AuthorizerId"]), route["RouteKey"])]

    def function_in(self, uri: object, route: str) -> str:
        """The one function that an invocation address names."""
        return _only(names_in(uri) & self._functions, route)


def _http_routes(parts: _Parts) -> list[HttpRoute]:
    routes = []
    for route in parts.of_kind("Route").values():
        method, _, path = route["RouteKey"].rpartition(" ")
        authorizer = None
        if route.get("AuthorizationType", "NONE") == "JWT":
            configuration = parts.authorizer_of(route)["JwtConfiguration"]
            scopes = tuple(route.get("AuthorizationScopes", ()))
            authorizer = JwtAuthorizer(configuration["Issuer"], tuple(configuration["Audience"]), scopes)
        elif route.get("AuthorizationType", "NONE") != "NONE":
            raise StartError(f"The route {route['RouteKey']} has an authorization the twin does not know.")
        routes.append(HttpRoute(method or "ANY", path, parts.function_of(route), authorizer))
    return routes


def _socket_api(name: str, properties: Tree, parts: _Parts) -> SocketApi:
    replying = {name for item in parts.of_kind("RouteResponse").values() for name in names_in(item["RouteId"])}
    routes: dict[str, SocketRoute] = {}
    authorizer: Tree = {}
    for logical, route in parts.of_kind("Route").items():
        routes[route["RouteKey"]] = SocketRoute(route["RouteKey"], parts.function_of(route), logical in replying)
        if route.get("AuthorizationType") == "CUSTOM":
            authorizer = parts.authorizer_of(route)
    stages = list(parts.of_kind("Stage").values())
    return SocketApi(
        name,
        stages[0]["StageName"] if stages else "live",
        properties.get("RouteSelectionExpression", "$request.body.action"),
        routes,
        parts.function_in(authorizer["AuthorizerUri"], "$connect") if authorizer else None,
        tuple(authorizer.get("IdentitySource", ())),
    )


def _only(names: set[str], route: str) -> str:
    if len(names) != 1:
        raise StartError(f"The route {route} must lead to exactly one resource, not to {sorted(names) or 'none'}.")
    return next(iter(names))
