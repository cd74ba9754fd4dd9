"""Speech over OpenAI's Audio API, whose transcription Mistral speaks as well.

https://developers.openai.com/api/docs/api-reference/audio
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from pydantic import AliasChoices, BaseModel, Field

from werkbank.ai.model import Model
from werkbank.ai.protocols import Speech, SpeechRequest, Transcript
from werkbank.ai.tokens import AUDIO_TOKENS_PER_CHARACTER, estimate_seconds, estimate_text_tokens
from werkbank.domain.errors import IncompleteStream, RequestRejected
from werkbank.domain.media import Audio
from werkbank.domain.messages import Usage
from werkbank.providers.base64_bytes import decoded
from werkbank.providers.deadline import Deadline
from werkbank.providers.faults import fault
from werkbank.providers.openai_connection import Connection, timeout_of, translated_faults

# One voice for every language: https://developers.openai.com/api/docs/guides/text-to-speech
_VOICE = "marin"
# The API tells formats apart by the file's name.
_EXTENSIONS = {
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "audio/x-m4a": "m4a",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "audio/wave": "wav",
    "audio/flac": "flac",
    "audio/ogg": "ogg",
    "audio/webm": "webm",
}


class _SpeechUsage(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0


class _Fault(BaseModel):
    code: str | None = None
    type: str | None = None
    message: str = ""


class _SpeechEvent(BaseModel):
    type: str = ""
    audio: str = ""
    usage: _SpeechUsage | None = None
    error: _Fault | None = None


class OpenAiSpeech:
    """Reads texts aloud with OpenAI's Speech API, as a stream of events: only it says how many tokens were used."""

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._connection = Connection(api_key, base_url, "OpenAI")

    def speak(self, model: Model, request: SpeechRequest, timeout_seconds: float) -> Speech:
        """Return the text as MP3; see `SpeechProvider`."""
        deadline = Deadline(timeout_seconds)
        with (
            translated_faults(self._connection.provider, deadline),
            self._connection.client.audio.speech.with_streaming_response.create(
                model=model.name,
                input=request.text,
                voice=_VOICE,
                response_format="mp3",
                stream_format="sse",
                timeout=timeout_of(timeout_seconds),
            ) as response,
            deadline.enforced_on(response),
        ):
            if response.headers.get("content-type", "").startswith("audio/"):
                # What servers that know no events send, whatever they are asked for.
                sound, usage = response.read(), _counted_usage(request)
            else:
                sound, usage = self._collected(_events(response.iter_lines()), request)
        if not sound:
            raise IncompleteStream("The speech was cut off.")
        return Speech(Audio(data=sound, mime_type="audio/mpeg"), len(request.text), usage)

    def _collected(self, events: Iterator[_SpeechEvent], request: SpeechRequest) -> tuple[bytes, Usage]:
        """Return the sound and what it used. Raises `IncompleteStream`, and the fault that is told in the stream."""
        sound = bytearray()
        for event in events:
            if event.type == "error" or event.error is not None:
                told = event.error or _Fault()
                raise fault(self._connection.provider, None, (told.code, told.type), {}, told.message)
            if event.type == "speech.audio.done":
                return bytes(sound), _usage(event.usage, request)
            sound += decoded(event.audio)
        raise IncompleteStream("The speech was cut off.")


def _events(lines: Iterator[str]) -> Iterator[_SpeechEvent]:
    """Yield the events of a stream. Every event of OpenAI's is one line of data (`data: {…}`)."""
    for line in lines:
        data = line.removeprefix("data:").strip()
        if line.startswith("data:") and data != "[DONE]":
            yield _SpeechEvent.model_validate_json(data)


def _usage(told: _SpeechUsage | None, request: SpeechRequest) -> Usage:
    if told is None:
        return _counted_usage(request)
    return Usage(input_tokens=told.input_tokens, output_tokens=told.output_tokens)


def _counted_usage(request: SpeechRequest) -> Usage:
    """Return a high count for who tells none: speech must not be free."""
    tokens = len(request.text) * AUDIO_TOKENS_PER_CHARACTER
    return Usage(input_tokens=estimate_text_tokens(request.text), output_tokens=tokens)


class _HeardLanguage(BaseModel):
    code: str


class _Duration(BaseModel):
    seconds: float | None = Field(
        default=None,
        ge=0,
        allow_inf_nan=False,
        validation_alias=AliasChoices("seconds", "prompt_audio_seconds"),  # OpenAI, Mistral
    )


class _Heard(BaseModel):
    """A transcript. OpenAI lists the languages, Mistral names one."""

    text: str
    language: str | None = None
    languages: list[_HeardLanguage] | None = None
    usage: _Duration | None = None

    @property
    def first_language(self) -> str | None:
        return self.languages[0].code if self.languages else self.language


class OpenAiTranscription:
    """Writes down what is said, with OpenAI or whoever speaks its API; `provider` is its name in messages."""

    def __init__(self, api_key: str, base_url: str | None = None, provider: str = "OpenAI") -> None:
        self._connection = Connection(api_key, base_url, provider)

    def transcribe(self, model: Model, audio: Audio, timeout_seconds: float) -> Transcript:
        """Return what is said; see `TranscriptionProvider`."""
        extension = _EXTENSIONS.get(audio.mime_type)
        if extension is None:
            raise RequestRejected(f"{self._connection.provider} cannot hear sound of the type {audio.mime_type[:80]}.")
        deadline = Deadline(timeout_seconds)
        with (
            translated_faults(self._connection.provider, deadline),
            self._connection.client.audio.transcriptions.with_streaming_response.create(
                model=model.name,
                file=(f"sound.{extension}", audio.data, audio.mime_type),
                timeout=timeout_of(timeout_seconds),
            ) as response,
            deadline.enforced_on(response),
        ):
            heard = _Heard.model_validate_json(response.read())
        return Transcript(heard.text, _billed_seconds(heard, audio), heard.first_language)


def _billed_seconds(heard: _Heard, audio: Audio) -> int:
    """Return the billed seconds; a server that does not tell them must not make them free."""
    seconds = heard.usage.seconds if heard.usage is not None else None
    return ceil(seconds) if seconds is not None else estimate_seconds(audio)
