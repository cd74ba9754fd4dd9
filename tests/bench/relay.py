"""The least that can stand between a model server and a page: `python -m tests.bench.relay MODEL_URL`.

Prints the port it listens on. Each message of a WebSocket is sent on as a prompt; the texts of the answer come back one
message each, as they arrive. No log, no ledger, no other process.
"""

import http.client
import json
import sys
from urllib.parse import urlsplit

from websockets.sync.server import ServerConnection, serve

_HOST = "127.0.0.1"


def main(model_url: str) -> None:
    """Serve until ended."""
    address = urlsplit(model_url)

    def relay(page: ServerConnection) -> None:
        for prompt in page:
            connection = http.client.HTTPConnection(address.hostname or _HOST, address.port)
            body = json.dumps({"messages": [{"role": "user", "content": prompt}], "stream": True})
            connection.request("POST", f"{address.path}/chat/completions", body, {"content-type": "application/json"})
            for line in connection.getresponse():
                for text in _texts(line):
                    page.send(text)
            connection.close()

    with serve(relay, _HOST, 0) as server:
        print(server.socket.getsockname()[1], flush=True)
        server.serve_forever()


def _texts(line: bytes) -> list[str]:
    """Return the texts in a line of server-sent events."""
    data = line.removeprefix(b"data: ")
    if data == line or data.startswith(b"[DONE]"):
        return []
    return [text for choice in json.loads(data)["choices"] if (text := choice["delta"].get("content"))]


if __name__ == "__main__":
    main(sys.argv[1])
