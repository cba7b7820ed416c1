"""python3 -m unittest, in this folder."""

import json
import pathlib
import tempfile
import threading
import unittest
from datetime import datetime, timezone
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

import bursar

SECRET = "whsec_c2VjcmV0IG9mIGEgdGVzdA=="
NOW = 1_800_000_000
EVENT = {"eventID": "01991f2e-6c00-7a3b-8c1d-0123456789ab", "event": "test"}


def success(response, **headers):
    return 200, headers, json.dumps({"success": True, "response": response}).encode()


def refusal(status, code, **headers):
    error = {"code": code, "message": "no", "field": "amount", "docs": "/docs/errors#" + code}
    return status, headers, json.dumps({"success": False, "error": error}).encode()


class Service:
    """Answers with what it is given, in turn, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked, self.waits = list(answers), [], []

    def __call__(self, method, url, headers, body, timeout):
        self.asked.append((method, url, headers, json.loads(body) if body else None))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **settings):
        return bursar.Client(
            "https://pay.example/", "the key", "the secret", transport=self, sleep=self.waits.append, **settings
        )


class Calls(unittest.TestCase):
    def test_a_change_keeps_its_key_in_each_attempt(self):
        s = Service(ConnectionResetError("cut"), refusal(503, "unavailable", **{"Retry-After": "7"}),
                    success({"withdrawal": {"withdrawalID": "w"}}))
        got = s.client().withdraw(currency="BTC", amount=Decimal("1E-8"), address="a")
        self.assertEqual(got, {"withdrawalID": "w"})
        keys = {headers["Idempotency-Key"] for _, _, headers, _ in s.asked}
        self.assertEqual((len(s.asked), len(keys)), (3, 1))
        self.assertEqual(s.asked[0][3]["amount"], "0.00000001")
        self.assertEqual(s.asked[0][2]["X-API-SECRET"], "the secret")
        self.assertTrue(0.125 <= s.waits[0] <= 0.25 and s.waits[1] == 7, s.waits)

    def test_refusals_are_not_repeated(self):
        s = Service(refusal(422, "insufficient_balance", **{"X-Request-ID": "r1"}))
        with self.assertRaises(bursar.Error) as got:
            s.client().withdraw(currency="BTC", amount="1", address="a", idempotency_key="mine")
        e = got.exception
        self.assertEqual((e.status, e.code, e.field, e.docs, e.request_id, e.idempotency_key),
                         (422, "insufficient_balance", "amount", "/docs/errors#insufficient_balance", "r1", "mine"))

    def test_a_call_ends(self):
        for answers, settings, attempts in (
            ([refusal(429, "rate_limited", **{"Retry-After": "31"})], {}, 1),
            ([refusal(429, "rate_limited", **{"Retry-After": "1"})] * 2, {"attempts": 2}, 2),
            ([TimeoutError("late")] * 4, {}, 4),
            ([(200, {}, b"<html>")], {}, 1),
        ):
            s = Service(*answers)
            with self.assertRaises((bursar.Error, bursar.NoResponse)):
                s.client(**settings).get_account()
            self.assertEqual(len(s.asked), attempts)

    def test_a_date_is_read_by_the_response_s_own_clock(self):
        s = Service(refusal(503, "unavailable", **{"Retry-After": "Tue, 24 Nov 2026 12:00:09 GMT",
                                                   "Date": "Tue, 24 Nov 2026 12:00:00 GMT"}), success({"rates": []}))
        self.assertEqual((s.client().list_rates(), s.waits), ([], [9.0]))

    def test_what_cannot_be_meant_is_refused_before_it_is_sent(self):
        c = Service().client()
        for wrong, raises in ((0.1, TypeError), (Decimal("NaN"), ValueError)):
            with self.assertRaises(raises):
                c.withdraw(currency="BTC", amount=wrong, address="a")
        with self.assertRaises(TypeError):
            c.withdraw_each(withdrawals=[{"currency": "BTC", "amount": 0.1, "address": "a", "reference": "r"}])
        with self.assertRaises(ValueError):
            c.list_charges(from_=datetime(2026, 1, 1))
        for url in ("ftp://x", "https://u:p@x", "https://x?a", "nothing"):
            with self.assertRaises(ValueError):
                bursar.Client(url, "k")

    def test_a_list_is_read_to_its_end(self):
        s = Service(success({"charges": [{"n": 1}], "nextCursor": "c2"}), success({"charges": [{"n": 2}]}))
        since = datetime(2026, 1, 1, tzinfo=timezone.utc)
        got = list(bursar.each(s.client().list_charges, from_=since, attention=True))
        self.assertEqual(got, [{"n": 1}, {"n": 2}])
        self.assertEqual([url.partition("?")[2] for _, url, _, _ in s.asked],
                         ["attention=true&from=2026-01-01T00%3A00%3A00Z",
                          "attention=true&from=2026-01-01T00%3A00%3A00Z&cursor=c2"])

    def test_the_feed_ends_where_nothing_is_newer(self):
        s = Service(success({"events": [{"eventID": "1"}], "next": "p1"}), success({"events": [], "next": "p1"}))
        self.assertEqual([e["eventID"] for e in s.client().feed()], ["1"])
        self.assertTrue(s.asked[1][1].endswith("?after=p1"), s.asked[1][1])

    def test_no_print_shows_a_key(self):
        c = Service(ConnectionResetError("cut")).client(attempts=1)
        with self.assertRaises(bursar.NoResponse) as got:
            c.withdraw(currency="BTC", amount="1", address="a")
        for text in (repr(c), str(got.exception), repr(got.exception)):
            self.assertFalse("the key" in text or "the secret" in text, text)


class Network(unittest.TestCase):
    def test_redirects_and_cut_answers(self):
        asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(302 if self.path.endswith("account") else 200)
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "500")
                self.end_headers()
                self.wfile.write(b'{"success": true, "response": {"rates": []}}')

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            c = bursar.Client(f"http://127.0.0.1:{server.server_port}", "k", attempts=1)
            with self.assertRaises(bursar.Error) as got:
                c.get_account()
            self.assertEqual(got.exception.status, 302)
            with self.assertRaises(bursar.NoResponse):
                c.list_rates()
            self.assertEqual(asked, ["/api/v1/account", "/api/v1/rates"])
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


class Webhooks(unittest.TestCase):
    def test_what_is_signed_is_read(self):
        headers, body = bursar.sign_webhook(SECRET, EVENT, NOW)
        self.assertEqual(bursar.verify_webhook(SECRET, headers, body, NOW + bursar.TOLERANCE), EVENT)
        headers["webhook-signature"] = "v2,x v1,AAAA " + headers["webhook-signature"]
        pairs = [(name.title(), value) for name, value in headers.items()]
        self.assertEqual(bursar.verify_webhook(SECRET, pairs, body, NOW - bursar.TOLERANCE), EVENT)

    def test_the_vector_of_standard_webhooks(self):
        headers = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
                   "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}
        with self.assertRaises(bursar.WebhookError) as got:  # its body is none of ours, so only the signature is valid
            secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
            bursar.verify_webhook(secret, headers, body, 1614265330)
        self.assertIs(type(got.exception), bursar.WebhookError)

    def test_what_must_not_be_trusted_is_refused(self):
        headers, body = bursar.sign_webhook(SECRET, EVENT, NOW)
        for raises, secret, change, text, now in (
            (bursar.WebhookSignature, SECRET, {}, body + b" ", NOW),
            (bursar.WebhookSignature, SECRET, {"webhook-id": "other"}, body, NOW),
            (bursar.WebhookSignature, SECRET, {"webhook-timestamp": str(NOW + 1)}, body, NOW),
            (bursar.WebhookSignature, "whsec_b3RoZXI=", {}, body, NOW),
            (bursar.WebhookSignature, SECRET, {"webhook-signature": headers["webhook-signature"][1:]}, body, NOW),
            (bursar.WebhookTimestamp, SECRET, {}, body, NOW + bursar.TOLERANCE + 1),
            (bursar.WebhookTimestamp, SECRET, {}, body, NOW - bursar.TOLERANCE - 1),
            (bursar.WebhookHeaders, SECRET, {"webhook-timestamp": "-1"}, body, NOW),
            (bursar.WebhookHeaders, SECRET, {"Webhook-ID": "twice"}, body, NOW),
            (bursar.WebhookHeaders, SECRET, {"webhook-signature": ""}, body, NOW),
            (bursar.WebhookSecret, "whsec_", {}, body, NOW),
            (bursar.WebhookSecret, SECRET[6:], {}, body, NOW),
            (TypeError, SECRET, {}, body.decode(), NOW),
        ):
            with self.assertRaises(raises):
                bursar.verify_webhook(secret, {**headers, **change}, text, now)


class Orders(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(__file__).resolve().parent.parent / "vectors"
        self.vectors = json.loads((folder / "orders.json").read_text("utf-8"))
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / "key.pem"
        self.file.write_text(self.vectors["privateKey"])
        made = self.vectors["orders"]
        self.orders = bursar.Orders(bursar.OrderKey.from_pem(self.file), account=made["account"],
                                    instance=made["instance"], assets=made["assets"], life=made["for"])

    @staticmethod
    def payment(case):
        p = case["payment"]
        return {"currency": p["currency"], "amount": p["amount"], "address": p["address"],
                "idempotency_key": p["idempotencyKey"], "created": p["created"], "max_fee": p.get("maxFee", "")}

    def test_orders_are_those_of_the_shared_vectors(self):
        for case in self.vectors["signed"]:
            got = self.orders.sign(**self.payment(case))
            self.assertEqual(got, (case["text"], case["signature"]), case["name"])
        for case in self.vectors["refused"]:
            with self.assertRaises(ValueError, msg=case["name"]):
                self.orders.sign(**self.payment(case))
        with self.assertRaises(TypeError):
            self.orders.sign(**{**self.payment(self.vectors["signed"][0]), "amount": 0.5})
        self.file.write_text("nothing")
        with self.assertRaises(ValueError):
            bursar.OrderKey.from_pem(self.file)

    def test_a_client_with_orders_signs_what_it_sends(self):
        case = self.vectors["signed"][0]
        p = self.payment(case)
        s = Service(ConnectionResetError("cut"), success({"withdrawal": {}}), success({}), success({"results": []}))
        c = s.client(orders=self.orders)
        c.withdraw(**p)
        c.refund_charge(chargeID="c", depositID="d", **p)
        key = p.pop("idempotency_key")
        c.withdraw_each(withdrawals=[{**p, "reference": key}])
        for _, _, headers, body in s.asked[:3]:
            self.assertEqual((body["order"], headers["Bursar-Signature"]), (case["text"], case["signature"]))
        self.assertEqual(s.asked[3][3]["withdrawals"], [
            {"currency": p["currency"], "amount": p["amount"], "address": p["address"], "reference": key,
             "order": case["text"], "signature": case["signature"]}])
        with self.assertRaises(ValueError):
            c.refund_charge(chargeID="c", depositID="d", address="a", part="all")


if __name__ == "__main__":
    unittest.main()
