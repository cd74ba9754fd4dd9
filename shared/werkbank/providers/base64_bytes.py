"""Pictures and sound as they come in JSON."""

import base64
import binascii

from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.media import Image


def decoded(text: str) -> bytes:
    """Decode base64. Raises `ProviderUnavailable` for what is none."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ProviderUnavailable("The answer's picture or sound cannot be read.") from error


def encoded(data: bytes) -> str:
    """Encode in base64."""
    return base64.b64encode(data).decode()


def data_url(image: Image) -> str:
    """Return the picture as a URL of its own (RFC 2397)."""
    return f"data:{image.mime_type};base64,{encoded(image.data)}"
