"""Speech by Mistral's Voxtral (https://docs.mistral.ai/studio/audio/text-to-speech/generate-speech)."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel

from werkbank.ai.model import Model
from werkbank.ai.protocols import Speech, SpeechRequest
from werkbank.domain.errors import ProviderUnavailable
from werkbank.domain.media import Audio
from werkbank.providers.base64_bytes import decoded
from werkbank.providers.deadline import Deadline
from werkbank.providers.openai_connection import Connection, timeout_of, translated_faults

# Every preset voice has a language of its own, and speaks the others with its accent:
# https://docs.mistral.ai/studio/audio/text-to-speech/voices
_VOICES = {
    "de": "voice_481",
    "en": "voice_478",
    "es": "voice_483",
    "fr": "voice_592",
    "it": "voice_482",
    "pt": "voice_480",
}


class _Spoken(BaseModel):
    audio_data: str


class MistralSpeech:
    """Reads texts aloud. The endpoint is OpenAI's but for the voice's name and an answer in JSON."""

    def __init__(self, api_key: str, base_url: str) -> None:
        self._connection = Connection(api_key, base_url, "Mistral")

    def speak(self, model: Model, request: SpeechRequest, timeout_seconds: float) -> Speech:
        """Return the text as MP3; see `SpeechProvider`."""
        from openai import omit

        deadline = Deadline(timeout_seconds)
        with (
            translated_faults(self._connection.provider, deadline),
            self._connection.client.audio.speech.with_streaming_response.create(
                model=model.name,
                input=request.text,
                voice=cast("str", omit),
                response_format="mp3",
                extra_body={"voice_id": _VOICES.get(request.language, _VOICES["en"])},
                timeout=timeout_of(timeout_seconds),
            ) as response,
            deadline.enforced_on(response),
        ):
            sound = decoded(_Spoken.model_validate_json(response.read()).audio_data)
        if not sound:
            raise ProviderUnavailable("Mistral sent no sound.")
        return Speech(Audio(data=sound, mime_type="audio/mpeg"), len(request.text))
