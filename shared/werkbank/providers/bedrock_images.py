"""Pictures by Stability AI's models on Amazon Bedrock over InvokeModel.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-stability-diffusion.html
"""

from __future__ import annotations

import json
from typing import Protocol, cast

from pydantic import BaseModel, Field

from werkbank.ai.model import Model
from werkbank.ai.protocols import GeneratedImage, ImageRequest, ImageShape
from werkbank.domain.errors import ProviderUnavailable, RequestRejected
from werkbank.domain.media import Image
from werkbank.providers.base64_bytes import decoded
from werkbank.providers.bedrock_connection import PROVIDER, BedrockConnection, translated_faults
from werkbank.providers.deadline import Deadline

_ASPECT_RATIOS: dict[ImageShape, str] = {"square": "1:1", "landscape": "3:2", "portrait": "2:3"}


class _Body(Protocol):
    def read(self) -> bytes: ...
    def close(self) -> None: ...


class _Answer(BaseModel):
    """`finish_reasons` holds null for a picture, else why there is none, such as `Filter reason: prompt`."""

    images: list[str] = Field(default_factory=list)
    finish_reasons: list[str | None] = Field(default_factory=list)


class BedrockImages:
    """Makes pictures on Bedrock."""

    def __init__(self, connection: BedrockConnection) -> None:
        self._connection = connection

    def generate_image(self, model: Model, request: ImageRequest, timeout_seconds: float) -> GeneratedImage:
        """Make one picture; see `ImageProvider`."""
        deadline = Deadline(timeout_seconds)
        wish = {"prompt": request.prompt, "aspect_ratio": _ASPECT_RATIOS[request.shape], "output_format": "png"}
        with translated_faults(deadline):
            answer = self._connection.client(timeout_seconds).invoke_model(
                modelId=model.name, body=json.dumps(wish), contentType="application/json", accept="application/json"
            )
            body = cast("_Body", answer["body"])
            with deadline.enforced_on(body):
                made = _Answer.model_validate_json(body.read())
        return GeneratedImage(Image(data=decoded(_picture(made)), mime_type="image/png"))


def _picture(made: _Answer) -> str:
    reason = next((reason for reason in made.finish_reasons if reason), "")
    if reason.startswith("Filter"):
        raise RequestRejected(f"{PROVIDER} makes no such picture: its filter objects.")
    if reason or not made.images:
        raise ProviderUnavailable(f"{PROVIDER} sent no picture.")
    return made.images[0]
