"""Receives webhooks on 127.0.0.1:9000, verifies them, and processes each event once.

    BURSAR_WEBHOOK_SECRET=whsec_... python3 receiver.py

Change take to what your shop does, and store eventID in the database transaction that does the work.
"""

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import bursar

MAX_BODY = 1 << 20
taken = set()
one_at_a_time = threading.Lock()  # each request has a thread, and the same event may come twice at once


def take(event: dict) -> None:
    with one_at_a_time:
        if event["eventID"] in taken:
            return
        print(event["event"], event.get("deposit", {}).get("amount", ""), flush=True)
        taken.add(event["eventID"])  # last: what raises is sent again


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
    bursar.sign_webhook(secret, {"eventID": "none"})  # raises where the secret is none
    server = ThreadingHTTPServer(address, Receiver)
    server.secret = secret
    return server


if __name__ == "__main__":
    host, _, port = os.environ.get("LISTEN", "127.0.0.1:9000").rpartition(":")
    serve((host, int(port)), os.environ["BURSAR_WEBHOOK_SECRET"]).serve_forever()
