"""Webhooks by Standard Webhooks: verify those that the service sends, and sign some for tests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from decimal import Decimal
from typing import Any, Iterable, Mapping, Optional, Tuple, Union

TOLERANCE = 300  # seconds by which a webhook's timestamp may be off, in either direction


class WebhookError(Exception):
    """The webhook must not be trusted."""


class WebhookSecret(WebhookError):
    """The secret is not whsec_ and base64."""


class WebhookHeaders(WebhookError):
    """webhook-id, webhook-timestamp or webhook-signature is missing, malformed or there twice."""


class WebhookTimestamp(WebhookError):
    """The timestamp is too far from now."""


class WebhookSignature(WebhookError):
    """No signature is valid."""


Headers = Union[Mapping[str, str], Iterable[Tuple[str, str]]]


def verify_webhook(secret: str, headers: Headers, body: bytes, now: Optional[float] = None) -> dict:
    """Verifies a webhook and returns its event, or raises a WebhookError.

    secret is the account's, "whsec_..."; headers are a mapping or (name, value) pairs; body is the request's, byte for
    byte as received; now is the time in seconds since 1970, by default this machine's. While the secret is rotated
    there is a signature of each: one valid signature is enough. Signatures are compared in constant time, and nothing
    of the body is parsed before. An event may come several times: process each eventID once.
    """
    key = _key(secret)
    event_id, stamp, signatures = (_one(headers, "webhook-" + name) for name in ("id", "timestamp", "signature"))
    if not event_id or not signatures or not (stamp.isascii() and stamp.isdigit()) or len(stamp) > 18:
        raise WebhookHeaders("webhook-id, webhook-timestamp or webhook-signature is missing or malformed")
    seconds = int(time.time() if now is None else now)
    if abs(int(stamp) - seconds) > TOLERANCE:
        raise WebhookTimestamp("the webhook's timestamp is too far from now")
    if not isinstance(body, (bytes, bytearray)):
        raise TypeError("body must be the bytes of the request, as received")
    want = _mac(key, event_id, stamp, bytes(body))
    valid = False
    for signature in signatures.split():
        version, _, text = signature.partition(",")
        try:
            got = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            continue
        valid = (hmac.compare_digest(got, want) and version == "v1") or valid
    if not valid:
        raise WebhookSignature("no signature of the webhook is valid")
    try:
        return json.loads(body, parse_float=Decimal)["response"]["webhook"]
    except (ValueError, KeyError, TypeError) as broken:
        raise WebhookError(f"read the webhook: {broken}") from broken


def sign_webhook(secret: str, event: Mapping[str, Any], at: Optional[float] = None) -> Tuple[dict, bytes]:
    """Returns the headers and the body with which the service would send an event, for tests of a receiver."""
    body = json.dumps({"success": True, "response": {"webhook": dict(event)}}).encode()
    stamp = str(int(time.time() if at is None else at))
    event_id = str(event["eventID"])
    signature = base64.b64encode(_mac(_key(secret), event_id, stamp, body)).decode()
    headers = {
        "content-type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": stamp,
        "webhook-signature": "v1," + signature,
    }
    return headers, body


def _mac(key: bytes, event_id: str, stamp: str, body: bytes) -> bytes:
    return hmac.new(key, f"{event_id}.{stamp}.".encode() + body, hashlib.sha256).digest()


def _key(secret: str) -> bytes:
    """Decodes a secret. An empty key is refused: anybody could sign with it."""
    try:
        key = base64.b64decode(secret[len("whsec_"):], validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith("whsec_") or not key:
        raise WebhookSecret("the webhook secret is not whsec_ and base64")
    return key


def _one(headers: Headers, name: str) -> str:
    """Returns the value of a header that is there exactly once, else ""."""
    pairs = headers.items() if hasattr(headers, "items") else headers
    found = [value for given, value in pairs if given.lower() == name]
    return found[0] if len(found) == 1 else ""
