"""Pictures by OpenAI's GPT Image models (https://developers.openai.com/api/docs/api-reference/images)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from werkbank.ai.model import Model
from werkbank.ai.protocols import GeneratedImage, ImageRequest, ImageShape
from werkbank.ai.tokens import estimate_text_tokens
from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.media import Image
from werkbank.domain.messages import Usage
from werkbank.providers.base64_bytes import decoded
from werkbank.providers.deadline import Deadline
from werkbank.providers.openai_connection import Connection, timeout_of, translated_faults

if TYPE_CHECKING:
    from openai.types import ImagesResponse

# Medium is what models.toml reserves for; a picture of high quality takes four times the tokens.
_QUALITY: Literal["medium"] = "medium"
_SIZES: dict[ImageShape, Literal["1024x1024", "1536x1024", "1024x1536"]] = {
    "square": "1024x1024",
    "landscape": "1536x1024",
    "portrait": "1024x1536",
}


class OpenAiImages:
    """Makes pictures with OpenAI's GPT Image models."""

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._connection = Connection(api_key, base_url, "OpenAI")

    def generate_image(self, model: Model, request: ImageRequest, timeout_seconds: float) -> GeneratedImage:
        """Make one picture; see `ImageProvider`."""
        deadline = Deadline(timeout_seconds)
        with (
            translated_faults(self._connection.provider, deadline),
            self._connection.client.images.with_streaming_response.generate(
                model=model.name,
                prompt=request.prompt,
                size=_SIZES[request.shape],
                quality=_QUALITY,
                output_format="png",
                n=1,
                timeout=timeout_of(timeout_seconds),
            ) as response,
            deadline.enforced_on(response),
        ):
            answer = response.parse()
        picture = answer.data[0].b64_json if answer.data else None
        if not picture:
            raise ProviderUnavailable(f"{self._connection.provider} sent no picture.")
        return GeneratedImage(Image(data=decoded(picture), mime_type="image/png"), _image_usage(answer, model, request))


def _image_usage(answer: ImagesResponse, model: Model, request: ImageRequest) -> Usage:
    if answer.usage is None:
        # A server that tells no usage must not make pictures free: count high instead.
        return Usage(input_tokens=estimate_text_tokens(request.prompt), output_tokens=model.max_output_tokens)
    return Usage(input_tokens=answer.usage.input_tokens, output_tokens=answer.usage.output_tokens)
