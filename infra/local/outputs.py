"""Local values for what the nested stacks (network, database, auth, monitoring) give the root template on AWS."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LocalOutputs:
    """One value per output name the root template reads as `!GetAtt <Stack>.Outputs.<Name>`."""

    app_secret_arn: str
    owner_secret_arn: str
    issuer: str
    client_id: str
    authorize_url: str
    token_url: str
    logout_url: str

    def by_name(self) -> dict[str, str]:
        """The outputs as the nested templates name them."""
        return {
            "AppSecretArn": self.app_secret_arn,
            "OwnerSecretArn": self.owner_secret_arn,
            "Issuer": self.issuer,
            "ClientId": self.client_id,
            "AuthorizeUrl": self.authorize_url,
            "TokenUrl": self.token_url,
            "LogoutUrl": self.logout_url,
        }
