"""Receives webhooks on 127.0.0.1:9000, verifies them, and processes each event once.

    BURSAR_WEBHOOK_SECRET=whsec_... python3 receiver.py

Change take to what your shop does, and store eventID in the database transaction that does the work.
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import bursar

MAX_BODY = 1 << 20
taken = set()


def take(event: dict) -> None:
    if event["eventID"] in taken:
        return
    taken.add(event["eventID"])
    print(event["event"], event.get("deposit", {}).get("amount", ""), flush=True)


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY:
            self.answer(400)
            return
        try:
            event = bursar.verify_webhook(self.server.secret, self.headers.items(), self.rfile.read(int(length)))
        except bursar.WebhookError as refused:
            print("refused:", refused, flush=True)
            self.answer(400)
            return
        take(event)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        pass


def serve(address: tuple, secret: str) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(address, Receiver)
    server.secret = secret
    return server


if __name__ == "__main__":
    host, _, port = os.environ.get("LISTEN", "127.0.0.1:9000").rpartition(":")
    serve((host, int(port)), os.environ["BURSAR_WEBHOOK_SECRET"]).serve_forever()
