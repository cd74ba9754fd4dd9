"""The user pool with its one user. Its ids are the same at every start, so that files and conversations stay hers."""

import secrets
from dataclasses import dataclass
from urllib.request import urlopen

from infra.local.account import REGION
from infra.local.aws import Aws

DEMO_USER = "demo"
GROUPS = ("mandate:demo", "role:admin")
_SEED = 20251


@dataclass(frozen=True)
class UserPool:
    """What signing in needs to know."""

    pool_id: str
    client_id: str
    password: str

    @property
    def issuer(self) -> str:
        """The name in the tokens' `iss`; the same form as on AWS."""
        return f"https://cognito-idp.{REGION}.amazonaws.com/{self.pool_id}"


def create_user_pool(aws: Aws) -> UserPool:
    """Makes pool, client, groups and user in moto's Cognito."""
    cognito = aws.client("cognito-idp")
    # moto draws all ids from one generator: seeded, pool, client and the user's `sub` come out the same each time.
    _seed(aws, _SEED)
    pool_id = cognito.create_user_pool(PoolName="werkbank")["UserPool"]["Id"]
    client = cognito.create_user_pool_client(
        UserPoolId=pool_id,
        ClientName="page",
        ExplicitAuthFlows=["ALLOW_ADMIN_USER_PASSWORD_AUTH", "ALLOW_REFRESH_TOKEN_AUTH"],
    )
    cognito.admin_create_user(UserPoolId=pool_id, Username=DEMO_USER, MessageAction="SUPPRESS")
    _seed(aws, secrets.randbits(64))
    password = f"{secrets.token_urlsafe(18)}-Aa1"
    cognito.admin_set_user_password(UserPoolId=pool_id, Username=DEMO_USER, Password=password, Permanent=True)
    for group in GROUPS:
        cognito.create_group(UserPoolId=pool_id, GroupName=group)
        cognito.admin_add_user_to_group(UserPoolId=pool_id, Username=DEMO_USER, GroupName=group)
    return UserPool(pool_id, client["UserPoolClient"]["ClientId"], password)


def _seed(aws: Aws, value: int) -> None:
    with urlopen(f"{aws.endpoint}/moto-api/seed?a={value}", data=b"", timeout=10):  # noqa: S310 (moto on this machine)
        pass
