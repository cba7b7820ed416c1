"""Orders: withdrawals that their account signs, so that only the holder of its key can have its money paid out."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import tempfile
import time
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable, Mapping, Optional, Tuple, Union

LONGEST = 30 * 24 * 3600  # seconds that an order may be payable


class OrderKey:
    """A key that signs orders.

    public_der is its public half as SubjectPublicKeyInfo in DER, of ed25519 or P-256; signer returns the 64 bytes of
    its signature over a text: for P-256 the numbers r and s over its SHA-256. The key itself may be anywhere, such as
    in a hardware module or in another package.
    """

    def __init__(self, public_der: bytes, signer: Callable[[bytes], bytes]) -> None:
        self.id = hashlib.sha256(public_der).hexdigest()[:32]
        self._signer = signer

    @classmethod
    def from_pem(cls, path: Union[str, os.PathLike], *, openssl: str = "openssl") -> OrderKey:
        """Signs by OpenSSL 3.0 or later with an ed25519 key in a file, as openssl genpkey writes it.

        Python's standard library has no ed25519. The program reads the file each time; the key is not kept here.
        """
        name = os.fspath(path)
        public = _run(openssl, "pkey", "-in", name, "-pubout", "-outform", "DER")
        if public[:12] != bytes.fromhex("302a300506032b6570032100") or len(public) != 44:
            raise ValueError(f"{name} is no key of ed25519")

        def sign(text: bytes) -> bytes:
            with tempfile.NamedTemporaryFile() as file:  # which it wants to know the length of
                file.write(text)
                file.flush()
                return _run(openssl, "pkeyutl", "-sign", "-rawin", "-inkey", name, "-in", file.name)

        return cls(public, sign)

    def sign(self, text: str) -> str:
        """Signs an order's text and returns the value of the header Bursar-Signature."""
        signature = self._signer(text.encode())
        if len(signature) != 64:
            raise ValueError(f"the signature has {len(signature)} bytes, want 64")
        return f"{self.id}:{base64.b64encode(signature).decode()}"


def _run(*command: str) -> bytes:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    if done.returncode != 0:
        raise ValueError(f"{command[0]} {command[1]} fails: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


class Orders:
    """Makes a client sign each withdrawal as an order.

    Nothing here comes from the service: account and instance, the signer's, and assets are what the operator gave you
    by another way, or what you compared with it. assets says what each currency is on its chain:
    {"BTC": {"chain": "bitcoin", "decimals": 8}, "USDT-TRON": {"chain": "tron", "contract": "T...", "decimals": 6}}.
    An order is payable for life seconds, an hour unless it is said, at most 30 days.
    """

    def __init__(
        self,
        key: OrderKey,
        *,
        account: str,
        instance: str,
        assets: Mapping[str, Mapping[str, Any]],
        life: int = 3600,
        now: Callable[[], float] = time.time,
    ) -> None:
        if not (account and instance and assets):
            raise ValueError("orders need account, instance and assets")
        if not 1 <= life <= LONGEST:
            raise ValueError("an order is payable for at least a second and at most 30 days")
        self._key, self._account, self._instance = key, account, instance
        self._assets, self._life, self._now = assets, life, now

    def __repr__(self) -> str:
        return f"orders of account {self._account}"

    def sign(
        self,
        *,
        currency: str,
        amount: Union[str, Decimal, int],
        address: str,
        idempotency_key: str,
        created: Optional[float] = None,
        max_fee: str = "",
    ) -> Tuple[str, str]:
        """Returns the text and the signature of a withdrawal's order, to be stored and sent as order and signature.

        The order's ID follows from the idempotency key, so that one payment is one order. created is when the payment
        was decided, in seconds since 1970, by default now; max_fee the most that the transaction may cost, in units of
        the native asset. The same key with the same created is the same order, also from another process.
        """
        if not idempotency_key:
            raise ValueError("an order needs an idempotency key")
        if currency not in self._assets:
            raise ValueError(f"assets does not say what {currency} is")
        asset = self._assets[currency]
        base, tagged, tag = address.partition(":")
        if tagged and not (re.fullmatch("[0-9]{1,10}", tag) and int(tag) < 1 << 32):
            raise ValueError("the memo of the address is not a number")
        began = int(self._now() if created is None else created)
        lines = {
            "instance": self._instance,
            "account": self._account,
            "order": _order_id(self._account, idempotency_key),
            "requester": "",
            "chain": asset["chain"],
            "asset": asset.get("contract") or "native",
            "pay": base,
            "tag": tag,
            "units": _units(amount, asset["decimals"]),
            "max_fee": max_fee,
            "created": _stamp(began),
            "expires": _stamp(began + self._life),
        }
        for name, value in lines.items():
            if "\n" in value or "\r" in value:
                raise ValueError(f"the {name} of an order has a line break")
        text = "bursar-order/1\n" + "".join(f"{name}: {value or '-'}\n" for name, value in lines.items())
        return text, self._key.sign(text)


def _order_id(account: str, key: str) -> str:
    """Derives the order's ID, a UUID of version 8, from the idempotency key."""
    data = bytearray(hashlib.sha256(f"bursar order\0{account}\0{key}".encode()).digest()[:16])
    data[6], data[8] = data[6] & 0x0F | 0x80, data[8] & 0x3F | 0x80
    text = data.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _units(amount: Union[str, Decimal, int], decimals: int) -> str:
    """Turns a plain decimal into the smallest units, exactly."""
    if isinstance(amount, float):
        raise TypeError("the amount is a float: give it as text or as decimal.Decimal")
    text = format(amount, "f") if isinstance(amount, Decimal) else str(amount)
    plain = re.fullmatch(r"([0-9]+)(?:\.([0-9]+))?", text)
    fraction = plain.group(2) or "" if plain else ""
    units = (plain.group(1) + fraction.ljust(decimals, "0")).lstrip("0") if plain else ""
    if not units or len(fraction) > decimals:
        raise ValueError(f"{text!r} is not an amount with at most {decimals} decimals")
    return units


def _stamp(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
