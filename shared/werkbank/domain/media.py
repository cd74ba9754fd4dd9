"""Pictures and sound as bytes with their type."""

from typing import Literal

from pydantic import ConfigDict

from werkbank.domain.base import WireModel

ImageType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]


class Image(WireModel):
    """A picture in one of the formats that every model with vision reads; base64 in JSON."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    data: bytes
    mime_type: ImageType


class Audio(WireModel):
    """Sound in a container or format of its own, such as `audio/mpeg`, `audio/wav` or `audio/webm`; base64 in JSON."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    data: bytes
    mime_type: str
