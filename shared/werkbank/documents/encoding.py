"""From bytes to text when nothing reliable says which encoding they have."""

import codecs

from werkbank.domain.errors import DocumentError

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The bytes above ASCII that German, French, Italian and English texts have in Windows-1252 and ISO 8859-1.
_WESTERN = frozenset("äöüÄÖÜßéèêëàâçîïôùûœÉÈÀÇòìÒÌñáíóúåøæ§°€£«»„“”‚‘’–—…•·²³½¼±©®™´\xa0\xad".encode("cp1252"))
_SAMPLE_BYTES = 200_000
_MAX_CONTROL_SHARE = 0.02


def decode_text(data: bytes, declared: str | None = None) -> str:
    """Return the text of `data`, by byte order mark, UTF-8, the declared encoding, then by what the bytes look like.

    Raises DocumentError when the bytes are no text at all.
    """
    text = _decode(data, declared)
    sample = text[:_SAMPLE_BYTES]
    controls = sum(character < " " and character not in "\t\n\r\x0c\x1b" for character in sample)
    if sample and controls > _MAX_CONTROL_SHARE * len(sample) + 2:
        raise DocumentError("The file is named like a text, but its content is not text. Upload it in its real format.")
    return text


def _decode(data: bytes, declared: str | None) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if wide := _wide_encoding(data):
        return data.decode(wide, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_legacy(data, declared)


def _wide_encoding(data: bytes) -> str | None:
    """Recognise UTF-16 without a mark: every second byte of Latin text is zero."""
    sample = data[:2000]
    if len(sample) < 4:
        return None
    half = len(sample) // 2
    if sample[1::2].count(0) > 0.7 * half and sample[0::2].count(0) < 0.1 * half:
        return "utf-16-le"
    if sample[0::2].count(0) > 0.7 * half and sample[1::2].count(0) < 0.1 * half:
        return "utf-16-be"
    return None


def _decode_legacy(data: bytes, declared: str | None) -> str:
    if declared and declared.lower() not in ("utf-8", "utf8"):
        try:
            return data.decode(declared)
        except (UnicodeDecodeError, LookupError):
            pass
    high = {byte for byte in data if byte >= 0x80}
    if high <= _WESTERN:
        return data.decode("cp1252", "replace")
    repaired = data.decode("utf-8", "replace")
    multibyte = sum(character > "\x7f" for character in repaired)
    if repaired.count("\ufffd") * 5 <= multibyte:
        return repaired  # UTF-8 with a few damaged bytes
    return _guess(data)


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    return data.decode(best.encoding if best else "cp1252", "replace")
