"""One call of the service: how a request is written, repeated and read."""

from __future__ import annotations

import email.utils
import http.client
import json
import random
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable, Mapping, Optional, Tuple

from .orders import Orders

MAX_ANSWER = 64 << 20  # bytes: a thousand deposits with the longest metadata are far smaller
FIRST_PAUSE = 0.25  # seconds after the first attempt; each next pause is twice as long
PASSING = (429, 502, 503, 504)  # statuses after which the next attempt may succeed

# A transport makes one exchange: (method, url, headers, body, timeout) -> (status, headers, body).
Transport = Callable[[str, str, Mapping[str, str], Optional[bytes], float], Tuple[int, Mapping[str, str], bytes]]


class Error(Exception):
    """A response of the service, or of something in front of it, that is no success.

    A change that was refused has not been made. code never changes its meaning; it is empty where the answer is not
    the service's own, such as a proxy's. field is the parameter at fault, docs the path of the service's own page about
    the code, request_id names the request in the service's log; each is empty where there is none. retry_after is how
    many seconds to wait, 0 where the response does not say. idempotency_key is the one of a change, "" of a GET.
    permission is the scope that a request needs which is forbidden.
    """

    def __init__(
        self,
        status: int,
        code: str = "",
        message: str = "",
        field: str = "",
        docs: str = "",
        request_id: str = "",
        retry_after: float = 0,
        permission: str = "",
    ) -> None:
        where = f" ({field})" if field else ""
        super().__init__(f"status {status}{', ' + code if code else ''}{where}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.field = field
        self.docs = docs
        self.request_id = request_id
        self.retry_after = retry_after
        self.permission = permission
        self.idempotency_key = ""


class NoResponse(Exception):
    """No whole response came, so the outcome of a change is not known.

    Repeat the call with the same idempotency_key to learn it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.idempotency_key = ""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer like any other: keys go to the configured service only."""

    def redirect_request(self, *_args: Any, **_kw: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def exchange(
    method: str, url: str, headers: Mapping[str, str], body: Optional[bytes], timeout: float
) -> Tuple[int, Mapping[str, str], bytes]:
    """The transport that is used unless another is given."""
    request = urllib.request.Request(url, data=body, headers=dict(headers), method=method)
    try:
        with _opener.open(request, timeout=timeout) as response:
            text = response.read(MAX_ANSWER + 1)
            missing = int(response.headers.get("Content-Length", 0)) - len(text)
            if missing > 0 and len(text) <= MAX_ANSWER:  # read with a bound returns what a cut connection left
                raise http.client.IncompleteRead(text, missing)
            return response.status, dict(response.headers.items()), text
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, dict(refused.headers.items()), refused.read(MAX_ANSWER + 1)


class Caller:
    """Sends requests to one service, as one account."""

    def __init__(
        self,
        base_url: str,
        key: str,
        secret: str = "",
        *,
        attempts: int = 4,
        max_wait: float = 30,
        timeout: float = 60,
        orders: Optional[Orders] = None,
        transport: Transport = exchange,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urllib.parse.urlsplit(base_url)
        whole = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
        if not whole or parts.query or parts.fragment:
            raise ValueError("base_url must be an http or https URL without user, query and fragment")
        if not key:
            raise ValueError("key is empty")
        if attempts < 1 or max_wait < 0:
            raise ValueError(f"{attempts} attempts with waits of up to {max_wait} s are not possible")
        self._base = base_url.rstrip("/") + "/api/v1/"
        self._key, self._secret = key, secret
        self._attempts, self._max_wait, self._timeout = attempts, max_wait, timeout
        self._transport, self._sleep, self._orders = transport, sleep, orders

    def __repr__(self) -> str:
        return f"client of {self._base}"  # without the key

    def _call(
        self,
        method: str,
        path: str,
        values: Mapping[str, Any],
        *,
        key: Optional[str] = None,
        secret: bool = False,
        signature: Optional[str] = None,
    ) -> dict:
        """Sends a request, repeats it where that may help, and returns its response.

        Every attempt may be repeated: reading changes nothing, and a change has one Idempotency-Key in all of them.
        """
        url, body = self._base + path, None
        headers = {"X-API-KEY": self._key, "Accept": "application/json"}
        sent = {name: plain(name, value) for name, value in values.items() if value is not None}
        if method == "GET":
            key = ""
            if sent:
                url += "?" + urllib.parse.urlencode({name: as_text(value) for name, value in sent.items()})
        else:
            key = key or draw_key()
            body = json.dumps(sent).encode()
            headers.update({"Content-Type": "application/json", "Idempotency-Key": key})
        if secret and self._secret:
            headers["X-API-SECRET"] = self._secret
        if signature:
            headers["Bursar-Signature"] = signature
        try:
            return self._insist(method, url, headers, body)
        except (Error, NoResponse) as failed:
            failed.idempotency_key = key
            raise

    def _insist(self, method: str, url: str, headers: Mapping[str, str], body: Optional[bytes]) -> dict:
        pause = FIRST_PAUSE
        for attempt in range(1, self._attempts + 1):
            wait = min(pause, self._max_wait) * random.uniform(0.5, 1)
            try:
                return self._once(method, url, headers, body)
            except Error as refused:
                wait = refused.retry_after or wait
                if refused.status not in PASSING or attempt == self._attempts or wait > self._max_wait:
                    raise
            except NoResponse:
                if attempt == self._attempts:
                    raise
            self._sleep(wait)
            pause *= 2
        raise AssertionError("unreachable")

    def _once(self, method: str, url: str, headers: Mapping[str, str], body: Optional[bytes]) -> dict:
        try:
            status, got, text = self._transport(method, url, headers, body, self._timeout)
        except (OSError, http.client.HTTPException) as broken:
            raise NoResponse(f"{method} {url.partition('?')[0]}: {broken}") from broken
        got = {name.lower(): value for name, value in got.items()}
        if status == 200 and got.get("content-type", "").startswith("text/csv") and len(text) <= MAX_ANSWER:
            return {"csv": text.decode() if isinstance(text, bytes) else text,
                    "nextCursor": got.get("bursar-next-cursor", "")}
        try:
            whole = json.loads(text, parse_float=Decimal) if len(text) <= MAX_ANSWER else None
        except ValueError:
            whole = None
        if status == 200 and isinstance(whole, dict) and whole.get("success") is True and "response" in whole:
            return whole["response"]
        said = whole.get("error") if isinstance(whole, dict) and whole.get("success") is False else None
        if not isinstance(said, dict):
            said = {"message": "the response is not from this service"}
        raise Error(
            status,
            said.get("code", ""),
            said.get("message", ""),
            said.get("field", ""),
            said.get("docs", ""),
            got.get("x-request-id", ""),
            retry_after(got),
            said.get("permission", ""),
        )


def draw_key() -> str:
    """Returns a random idempotency key."""
    return "py-" + secrets.token_hex(16)


def retry_after(headers: Mapping[str, str]) -> float:
    """Reads a number of seconds, or a date, which proxies may send, by the response's own clock."""
    value = headers.get("retry-after", "")
    if value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    try:
        until = email.utils.parsedate_to_datetime(value)
        now = email.utils.parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (TypeError, ValueError, IndexError):
        return 0


def plain(name: str, value: Any) -> Any:
    """Returns a value of JSON. A float is refused: it is not the amount that was written."""
    if isinstance(value, float):
        raise TypeError(f"{name} is a float: send an amount as text or as decimal.Decimal")
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{name} is {value}: an amount is a plain decimal")
        return format(value, "f")
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} has no time zone")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {inner: plain(f"{name}.{inner}", item) for inner, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        if all(isinstance(item, str) for item in value):
            return ",".join(value)
        return [plain(name, item) for item in value]
    return value


def as_text(value: Any) -> str:
    """Returns a value as a query has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
