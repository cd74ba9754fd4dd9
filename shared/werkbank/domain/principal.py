"""Who acts: taken from a verified token, set on every database session, never from a request body."""

from werkbank.domain.base import WireModel


class Principal(WireModel):
    """A person of a mandate (tenant), or a function acting for them."""

    user_id: str
    mandate_id: str
    roles: frozenset[str] = frozenset()
    zone: str = "UTC"
    language: str = "en"
