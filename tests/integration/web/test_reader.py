"""Pages are read from the open web only, within limits (TB-07), against real servers on loopback."""

import gzip
import ssl
from collections.abc import Iterator, Sequence
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.integration.web.server import FORBIDDEN, OPEN_WEB, Request, Server, web_server
from werkbank.domain.errors import ToolError
from werkbank.domain.time import utc_now
from werkbank.web.addresses import Address, resolve
from werkbank.web.reader import WebReader

_ARTICLE = """<!doctype html><html><head><title>The bridge</title></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a> Subscribe now</nav>
<article><h1>The bridge</h1><p>The bridge over the river was opened to traffic in June after four years of work, and
it carries two lanes, a cycle path and a tram line that links both banks of the city.</p><p>The council paid CHF 41.5
million for it, two million less than planned, because steel became cheaper while it was built.</p></article>
<footer>Cookie settings</footer></body></html>"""


def may_connect(address: Address) -> bool:
    return str(address) == OPEN_WEB


def reader(**settings: object) -> WebReader:
    return WebReader(may_connect=may_connect, **{"pause": lambda seconds: None, **settings})  # type: ignore[arg-type]


@pytest.fixture
def server() -> Iterator[Server]:
    with web_server() as running:
        yield running


def test_main_text_of_a_page(server: Server) -> None:
    pytest.importorskip("trafilatura")
    server.pages["/a"] = lambda request: request.answer(_ARTICLE.encode())
    page = reader().read(server.url("/a#part"))
    assert page.title == "The bridge"
    assert "CHF 41.5" in page.text
    assert "Subscribe" not in page.text
    assert page.url == server.url("/a")


def test_plain_text_and_pdf(server: Server) -> None:
    import pymupdf

    document = pymupdf.open()  # type: ignore[no-untyped-call]
    document.new_page().insert_text((72, 72), "Quarterly figures of the ferry line")
    pdf: bytes = document.tobytes()  # type: ignore[no-untyped-call]
    server.pages["/t"] = lambda request: request.answer("Grüße".encode("latin-1"), "text/plain; charset=latin-1")
    server.pages["/p"] = lambda request: request.answer(pdf, "application/pdf")
    server.pages["/untyped"] = lambda request: request.answer(pdf, None)
    assert reader().read(server.url("/t")).text == "Grüße"
    assert "Quarterly figures" in reader().read(server.url("/p")).text
    assert "Quarterly figures" in reader().read(server.url("/untyped")).text


def test_packed_page(server: Server) -> None:
    server.pages["/z"] = lambda request: request.answer(
        gzip.compress(b"plain words"), "text/plain", Content_Encoding="gzip"
    )
    assert reader().read(server.url("/z")).text == "plain words"


def test_page_packed_in_several_members(server: Server) -> None:
    # RFC 1952: servers join what they have packed before
    packed = b"".join(map(gzip.compress, (b"one ", b"", b"two ", b"three")))
    server.pages["/z"] = lambda request: request.answer(packed, "text/plain", Content_Encoding="gzip")
    assert reader().read(server.url("/z")).text == "one two three"


@pytest.mark.parametrize(
    "content_type", ["application/rss+xml", "application/atom+xml; charset=utf-8", "application/ld+json"]
)
def test_feeds_are_texts(server: Server, content_type: str) -> None:
    server.pages["/feed"] = lambda request: request.answer(b"<rss><title>Ferry news</title></rss>", content_type)
    assert "Ferry news" in reader().read(server.url("/feed")).text


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_relative_ones_too(server: Server, status: int) -> None:
    server.pages["/from/here"] = lambda request: request.redirect("../to?x=1", status)
    server.pages["/to"] = lambda request: request.answer(b"arrived", "text/plain")
    assert reader().read(server.url("/from/here")).url == server.url("/to?x=1")


def test_too_many_redirects(server: Server) -> None:
    server.pages["/r"] = lambda request: request.redirect("/r")
    with pytest.raises(ToolError, match="redirects more than 5 times"):
        reader().read(server.url("/r"))
    assert len(server.seen) == 6


def test_redirect_to_loopback_is_refused(server: Server) -> None:
    with web_server(FORBIDDEN) as inside:
        inside.pages["/secret"] = lambda request: request.answer(b"secret", "text/plain")
        server.pages["/r"] = lambda request: request.redirect(inside.url("/secret"))
        with pytest.raises(ToolError, match="not an address of the open web"):
            reader().read(server.url("/r"))
        assert inside.seen == []


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://127.0.0.2/x", "gopher://127.0.0.2", "javascript:1", "http://", "http://u:p@h/"],
)
def test_redirect_to_another_scheme_is_refused(server: Server, location: str) -> None:
    server.pages["/r"] = lambda request: request.redirect(location)
    with pytest.raises(ToolError):
        reader().read(server.url("/r"))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "[::1]",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "0.0.0.0", "169.254.169.254", "[fe80::1]",
        "10.0.0.1", "[::]", "100.64.0.1", "224.0.0.1", "metadata",
    ],
)  # fmt: skip
def test_any_spelling_of_an_inner_host_is_refused(host: str) -> None:
    def resolver(name: str, port: int) -> Sequence[Address]:
        return [ip_address("169.254.169.254")] if name == "metadata" else resolve(name, port)

    with web_server(FORBIDDEN) as inside:
        inside.pages["/"] = lambda request: request.answer(b"secret", "text/plain")
        with pytest.raises(ToolError):
            WebReader(resolver=resolver).read(f"http://{host}:{inside.server_port}/")
        assert inside.seen == []


def test_rebinding_resolver_cannot_move_the_connection(server: Server) -> None:
    answers = [ip_address(OPEN_WEB), ip_address(FORBIDDEN)]
    asked: list[str] = []

    def resolver(host: str, port: int) -> Sequence[Address]:
        asked.append(host)
        return [answers[min(len(asked), len(answers)) - 1]]

    server.pages["/a"] = lambda request: request.answer(b"open", "text/plain")
    assert reader(resolver=resolver).read(server.url("/a", "rebind.test")).text == "open"
    assert asked == ["rebind.test"]
    assert server.seen == [(f"rebind.test:{server.server_port}", "/a")]
    with pytest.raises(ToolError, match="open web"):
        reader(resolver=resolver).read(server.url("/a", "rebind.test"))


def test_one_forbidden_address_among_good_ones_is_enough(server: Server) -> None:
    def resolver(host: str, port: int) -> Sequence[Address]:
        return [ip_address(OPEN_WEB), ip_address(FORBIDDEN)]

    with pytest.raises(ToolError, match="open web"):
        reader(resolver=resolver).read(server.url("/", "mixed.test"))
    assert server.seen == []


def test_drip_of_a_body_and_of_headers_end_with_the_deadline(server: Server) -> None:
    def slow_body(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/plain")
        request.end_headers()
        request.drip(b"x")

    def slow_headers(request: Request) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
        request.drip(b"x")

    server.pages |= {"/body": slow_body, "/headers": slow_headers}
    for path in ("/body", "/headers"):
        server.hung_up.clear()
        with pytest.raises(ToolError, match=r"within 0\.3 seconds"):
            reader(timeout_seconds=0.3).read(server.url(path))
        assert server.hung_up.wait(10), "the connection was closed"


def test_resolver_that_hangs_ends_with_the_deadline(server: Server) -> None:
    def resolver(host: str, port: int) -> Sequence[Address]:
        server.hung_up.wait(30)
        return []

    with pytest.raises(ToolError, match=r"within 0\.2 seconds"):
        reader(resolver=resolver, timeout_seconds=0.2).read(server.url("/", "slow.test"))


def test_sizes_are_counted_not_believed(server: Server) -> None:
    def endless(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/plain")
        request.end_headers()
        request.drip(b"x" * 300_000)

    bomb = gzip.compress(bytes(64 * 1024 * 1024))
    server.pages["/endless"] = endless
    server.pages["/bomb"] = lambda request: request.answer(bomb, "text/plain", Content_Encoding="gzip")
    server.pages["/declared"] = lambda request: request.answer(b"", "text/plain", Content_Length="99999999")
    for path in ("/endless", "/bomb", "/declared"):
        with pytest.raises(ToolError, match="larger than 1 MB"):
            reader(max_bytes=1024**2).read(server.url(path))


@pytest.mark.parametrize(
    "content_type", ["image/png", "image/svg+xml", "application/zip", "video/mp4", "application/octet-stream"]
)
def test_other_types_are_refused_before_they_are_read(server: Server, content_type: str) -> None:
    server.pages["/x"] = lambda request: request.answer(b"\x89PNG\r\n\x1a\n" + bytes(100), content_type)
    with pytest.raises(ToolError, match="only web pages, texts and PDF"):
        reader().read(server.url("/x"))


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n" + bytes(100), b"PK\x03\x04" + bytes(100)])
@pytest.mark.parametrize("content_type", ["text/plain", "application/pdf", None])
def test_bytes_overrule_the_declared_type(server: Server, body: bytes, content_type: str | None) -> None:
    server.pages["/x"] = lambda request: request.answer(body, content_type)
    with pytest.raises(ToolError):
        reader().read(server.url("/x"))


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_faults_that_pass_are_waited_for(server: Server, status: int) -> None:
    # AG-11: three tries, with waits that double
    asked: list[int] = []
    waited: list[float] = []

    def answer(request: Request) -> None:
        asked.append(status)
        if len(asked) < 3:
            request.send_error(status)
        else:
            request.answer(_ARTICLE.encode())

    server.pages["/busy"] = answer
    assert "CHF 41.5" in reader(pause=waited.append).read(server.url("/busy")).text
    assert (len(asked), waited) == (3, [1.0, 2.0])


def test_faults_that_stay_are_told_after_three_tries(server: Server) -> None:
    asked: list[str] = []

    def answer(request: Request) -> None:
        asked.append("again")
        request.send_error(503)

    server.pages["/down"] = answer
    with pytest.raises(ToolError, match="503"):
        reader().read(server.url("/down"))
    assert len(asked) == 3
    server.pages["/nowhere"] = lambda request: request.send_error(404)
    waited: list[float] = []
    with pytest.raises(ToolError, match="404"):
        reader(pause=waited.append).read(server.url("/nowhere"))
    assert waited == []


def test_faults_become_sentences(server: Server) -> None:
    def cut(request: Request) -> None:
        request.answer(b"half", "text/plain", Content_Length="1000")

    def noise(request: Request) -> None:
        request.wfile.write(b"SSH-2.0-OpenSSH\r\n")

    server.pages["/missing"] = lambda request: request.send_error(404)
    server.pages["/cut"] = cut
    server.pages["/broken"] = lambda request: request.answer(b"no gzip", "text/plain", Content_Encoding="gzip")
    server.pages["/short"] = lambda request: request.answer(
        gzip.compress(b"words " * 1000)[:20], "text/plain", Content_Encoding="gzip"
    )
    server.pages["/brotli"] = lambda request: request.answer(b"x", "text/plain", Content_Encoding="br")
    server.pages["/noise"] = noise
    server.pages["/empty"] = lambda request: request.answer(b"<html><script>1</script></html>")
    for path, sentence in {
        "/missing": "status 404", "/cut": "cannot be reached", "/broken": "cannot be reached",
        "/short": "cannot be reached", "/brotli": "packed", "/noise": "cannot be reached",
        "/empty": "no readable content",
    }.items():  # fmt: skip
        with pytest.raises(ToolError, match=sentence):
            reader().read(server.url(path))


@pytest.mark.parametrize(
    "url", ["", "example", "//x", "http:///a", "http://[::1", "http://x:99999/", "data:,x", "http://a\r\nb/"]
)
def test_what_is_no_web_address(url: str) -> None:
    with pytest.raises(ToolError):
        reader().read(url)


def test_name_and_certificate_stay_with_the_name(tmp_path: Path) -> None:
    serving, trusting = _certificate("pinned.test", tmp_path)

    def resolver(host: str, port: int) -> Sequence[Address]:
        return [ip_address(OPEN_WEB)]

    with web_server(tls=serving) as server:
        server.pages["/a"] = lambda request: request.answer(b"over TLS", "text/plain")
        secure = reader(resolver=resolver, ssl_context=trusting)
        assert secure.read(server.url("/a", "pinned.test", "https")).text == "over TLS"
        with pytest.raises(ToolError, match="cannot be reached"):
            secure.read(server.url("/a", "other.test", "https"))


def _certificate(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return a context that serves under a name, and one that trusts only it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(utc_now() - timedelta(days=1))
        .not_valid_after(utc_now() + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "site.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + signed.public_bytes(serialization.Encoding.PEM)
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(file)
    return serving, ssl.create_default_context(cafile=str(file))
