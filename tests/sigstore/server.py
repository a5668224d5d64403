"""HTTP on 127.0.0.1, on a port that the kernel picks."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol


class Service(Protocol):
    """What answers requests: a path, the body and the Authorization header in; content type and body out."""

    def answer(self, path: str, body: bytes, authorization: str | None) -> tuple[str, bytes]:
        """Answer a POST; KeyError for a path that is not served, any other exception for a faulty request."""
        ...


@contextmanager
def serving(service: Service) -> Iterator[int]:
    """Serve until the block is left; gives the port."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class says so
            """Nothing: a test run is quiet."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kind = "application/json"
            try:
                kind, out = service.answer(self.path, body, self.headers.get("Authorization"))
                status = 201
            except Exception as error:  # noqa: BLE001 - whatever is wrong with a request, the client is told
                out = json.dumps({"message": f"{type(error).__name__}: {error}"}).encode()
                status = 404 if isinstance(error, KeyError) else 400
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
