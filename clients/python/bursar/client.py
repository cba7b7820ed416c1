"""The endpoints of the service."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Callable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Union

from .call import Caller, draw_key

Amount = Union[str, Decimal, int]  # never a float
Time = Union[str, datetime]  # RFC 3339, or a datetime with a time zone
Texts = Union[str, Sequence[str]]  # several are sent with commas between them


class Page(NamedTuple):
    """One page of a list, newest first. next_cursor is "" on the last page; response is the whole answer."""

    items: List[dict]
    next_cursor: str
    response: dict


def each(list_method: Callable[..., Page], **filters: Any) -> Iterator[dict]:
    """Reads a list page by page: each(client.list_wallets, currency="BTC")."""
    while True:
        page = list_method(**filters)
        yield from page.items
        if not page.next_cursor:
            return
        filters["cursor"] = page.next_cursor


class Client(Caller):
    """Calls one service as one account; safe for several threads.

    Parameters are named as in the API; from is from_. Every change carries an Idempotency-Key, the same in each
    attempt; give idempotency_key to repeat a change yourself. A refusal raises Error, a broken exchange NoResponse.
    The secret is sent with withdrawals only. attempts, max_wait and timeout (seconds) bound each call: a longer
    Retry-After than max_wait ends it. With orders, each withdrawal and refund is signed. transport and sleep replace
    the network and the clock in tests.
    """

    def _page(self, path: str, name: str, values: Mapping[str, Any]) -> Page:
        response = self._call("GET", path, values)
        return Page(response[name], response.get("nextCursor", ""), response)

    def feed(
        self,
        *,
        after: Optional[str] = None,
        wait: int = 0,
        type: Optional[str] = None,
        event: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[dict]:
        """Reads the event feed, oldest first.

        With wait (seconds, up to 25) it goes on until a call fails, without it until there is nothing newer. Store the
        eventID of each event with what you made of it, and begin after it the next time.
        """
        while True:
            page = self.list_events(after=after, wait=wait or None, type=type, event=event, limit=limit)
            yield from page["events"]
            if page["next"] == after and not wait:
                return
            after = page["next"]

    def create_wallet(
        self,
        *,
        currency: str,
        webhook: str,
        metadata: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> dict:
        """Creates a deposit address; on a chain where wallets share an address, a memo."""
        values = {
            "currency": currency,
            "webhook": webhook,
            "metadata": metadata,
        }
        return self._call("POST", "wallet", values, key=idempotency_key)["wallet"]

    def get_wallet(self, *, walletID: str) -> dict:
        """Returns a wallet."""
        return self._call("GET", "wallet", {"walletID": walletID})["wallet"]

    def set_wallet_metadata(self, *, walletID: str, metadata: str, idempotency_key: Optional[str] = None) -> dict:
        """Changes the metadata of a wallet, and returns the wallet."""
        values = {
            "walletID": walletID,
            "metadata": metadata,
        }
        return self._call("PUT", "wallet/metadata", values, key=idempotency_key)["wallet"]

    def set_wallet_webhook(
        self,
        *,
        webhook: str,
        walletID: Optional[str] = None,
        currency: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> dict:
        """Changes the webhook of a wallet, of all wallets of a currency, or of all wallets of the account.

        Returns how many were changed as "updated" and, with walletID, the "wallet".
        """
        values = {
            "webhook": webhook,
            "walletID": walletID,
            "currency": currency,
        }
        return self._call("PUT", "wallet/webhook", values, key=idempotency_key)

    def list_currencies(self) -> dict:
        """Returns the codes as "currencies", and the "details" of each by its code."""
        return self._call("GET", "wallet/currencies", {})

    def list_wallets(
        self,
        *,
        currency: Optional[str] = None,
        metadata: Optional[str] = None,
        address: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the wallets."""
        values = {
            "currency": currency,
            "metadata": metadata,
            "address": address,
            "from": from_,
            "to": to,
            "limit": limit,
            "cursor": cursor,
        }
        return self._page("account/wallets", "wallets", values)

    def list_deposits(
        self,
        *,
        walletID: str,
        status: Optional[str] = None,
        currency: Optional[str] = None,
        hashID: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the deposits of a wallet."""
        values = {
            "walletID": walletID,
            "status": status,
            "currency": currency,
            "hashID": hashID,
            "from": from_,
            "to": to,
            "limit": limit,
            "cursor": cursor,
        }
        return self._page("wallet/deposits", "deposits", values)

    def get_deposit(self, *, depositID: str) -> dict:
        """Returns a deposit."""
        return self._call("GET", "wallet/deposit", {"depositID": depositID})["deposit"]

    def get_deposit_by_hash(self, *, hashID: str) -> List[dict]:
        """Returns every deposit of the account in a transaction, as a list."""
        return self._call("GET", "wallet/deposit/hash", {"hashID": hashID})["deposits"]

    def create_charge(
        self,
        *,
        currency: Texts,
        webhook: str,
        metadata: Optional[str] = None,
        minimum: Optional[Amount] = None,
        expires: Optional[int] = None,
        amount: Optional[Amount] = None,
        price: Optional[Amount] = None,
        priceCurrency: Optional[str] = None,
        rateLock: Optional[int] = None,
        underPercent: Optional[Amount] = None,
        underAmount: Optional[Amount] = None,
        overPercent: Optional[Amount] = None,
        overAmount: Optional[Amount] = None,
        late: Optional[str] = None,
        other: Optional[str] = None,
        reference: Optional[str] = None,
        description: Optional[str] = None,
        customer: Optional[str] = None,
        redirectSuccess: Optional[str] = None,
        redirectFailure: Optional[str] = None,
        contact: Optional[str] = None,
        locale: Optional[str] = None,
        linkFormat: Optional[str] = None,
        events: Optional[Texts] = None,
        idempotency_key: Optional[str] = None,
    ) -> dict:
        """Creates a charge. With amount or price its deposits add up; else one deposit of the minimum pays it.

        expires and rateLock are seconds.
        """
        values = {
            "currency": currency,
            "webhook": webhook,
            "metadata": metadata,
            "minimum": minimum,
            "expires": expires,
            "amount": amount,
            "price": price,
            "priceCurrency": priceCurrency,
            "rateLock": rateLock,
            "underPercent": underPercent,
            "underAmount": underAmount,
            "overPercent": overPercent,
            "overAmount": overAmount,
            "late": late,
            "other": other,
            "reference": reference,
            "description": description,
            "customer": customer,
            "redirectSuccess": redirectSuccess,
            "redirectFailure": redirectFailure,
            "contact": contact,
            "locale": locale,
            "linkFormat": linkFormat,
            "events": events,
        }
        return self._call("POST", "charge", values, key=idempotency_key)["charge"]

    def get_charge(self, *, chargeID: str) -> dict:
        """Returns a charge."""
        return self._call("GET", "charge", {"chargeID": chargeID})["charge"]

    def watch_charge(self, *, chargeID: str, seen: Optional[str] = None, wait: Optional[int] = None) -> dict:
        """Returns the "charge" as soon as it is not as it was seen, or after wait seconds, and the name of its state.

        That name is "seen". follow_charge goes on by itself.
        """
        return self._call("GET", "charge/events", {"chargeID": chargeID, "seen": seen, "wait": wait})

    def follow_charge(self, *, chargeID: str, wait: int = 25) -> Iterator[dict]:
        """Reads a charge as it is now, and again at each change of it, until a call fails."""
        seen = None
        while True:
            page = self.watch_charge(chargeID=chargeID, seen=seen, wait=wait)
            if page["seen"] != seen:
                yield page["charge"]
            seen = page["seen"]

    def cancel_charge(self, *, chargeID: str, idempotency_key: Optional[str] = None) -> dict:
        """Ends a charge that adds up and is open; its addresses stay watched."""
        return self._call("POST", "charge/cancel", {"chargeID": chargeID}, key=idempotency_key)["charge"]

    def quote_charge(self, *, chargeID: str, currency: str, idempotency_key: Optional[str] = None) -> dict:
        """Gives a currency of a charge that adds up its address, and locks its rate."""
        values = {
            "chargeID": chargeID,
            "currency": currency,
        }
        return self._call("POST", "charge/quote", values, key=idempotency_key)["charge"]

    def resolve_charge(
        self,
        *,
        chargeID: str,
        depositID: str,
        resolution: str,
        idempotency_key: Optional[str] = None,
    ) -> dict:
        """Decides about a payment of a charge: resolution is accept or credit."""
        values = {
            "chargeID": chargeID,
            "depositID": depositID,
            "resolution": resolution,
        }
        return self._call("POST", "charge/resolve", values, key=idempotency_key)["charge"]

    def refund_charge(
        self,
        *,
        chargeID: str,
        depositID: str,
        address: str,
        amount: Optional[Amount] = None,
        part: Optional[str] = None,
        rate: Optional[str] = None,
        fee: Optional[str] = None,
        order: Optional[str] = None,
        signature: Optional[str] = None,
        created: Optional[float] = None,
        max_fee: str = "",
        currency: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> dict:
        """Pays a payment back by a withdrawal. Returns the "charge" and the "withdrawal".

        Use the address that the payer names. order and signature are those of an account that signs its orders. A
        client with orders signs by itself what has none: created and max_fee are those of Orders.sign, currency what
        was paid, and amount must be given.
        """
        key = idempotency_key or draw_key()
        if self._orders and order is None:
            if amount is None or currency is None:
                raise ValueError("a refund that is signed needs amount and currency")
            order, signature = self._orders.sign(
                currency=currency,
                amount=amount,
                address=address,
                idempotency_key=key,
                created=created,
                max_fee=max_fee,
            )
        values = {
            "chargeID": chargeID,
            "depositID": depositID,
            "address": address,
            "amount": amount,
            "part": part,
            "rate": rate,
            "fee": fee,
            "order": order,
        }
        return self._call("POST", "charge/refund", values, key=key, secret=True, signature=signature)

    def create_link(
        self,
        *,
        currency: Texts,
        webhook: str,
        metadata: Optional[str] = None,
        expires: Optional[int] = None,
        amount: Optional[Amount] = None,
        price: Optional[Amount] = None,
        priceCurrency: Optional[str] = None,
        rateLock: Optional[int] = None,
        underPercent: Optional[Amount] = None,
        underAmount: Optional[Amount] = None,
        overPercent: Optional[Amount] = None,
        overAmount: Optional[Amount] = None,
        late: Optional[str] = None,
        other: Optional[str] = None,
        description: Optional[str] = None,
        redirectSuccess: Optional[str] = None,
        redirectFailure: Optional[str] = None,
        contact: Optional[str] = None,
        locale: Optional[str] = None,
        linkFormat: Optional[str] = None,
        events: Optional[Texts] = None,
        fields: Optional[Texts] = None,
        maxUses: Optional[int] = None,
        closesAt: Optional[Time] = None,
        idempotency_key: Optional[str] = None,
    ) -> dict:
        """Creates a payment link: a template of charges that add up."""
        values = {
            "currency": currency,
            "webhook": webhook,
            "metadata": metadata,
            "expires": expires,
            "amount": amount,
            "price": price,
            "priceCurrency": priceCurrency,
            "rateLock": rateLock,
            "underPercent": underPercent,
            "underAmount": underAmount,
            "overPercent": overPercent,
            "overAmount": overAmount,
            "late": late,
            "other": other,
            "description": description,
            "redirectSuccess": redirectSuccess,
            "redirectFailure": redirectFailure,
            "contact": contact,
            "locale": locale,
            "linkFormat": linkFormat,
            "events": events,
            "fields": fields,
            "maxUses": maxUses,
            "closesAt": closesAt,
        }
        return self._call("POST", "link", values, key=idempotency_key)["link"]

    def get_link(self, *, linkID: str) -> dict:
        """Returns a payment link."""
        return self._call("GET", "link", {"linkID": linkID})["link"]

    def close_link(self, *, linkID: str, idempotency_key: Optional[str] = None) -> dict:
        """Closes a payment link for ever; its charges stay as they are."""
        return self._call("POST", "link/close", {"linkID": linkID}, key=idempotency_key)["link"]

    def list_links(
        self,
        *,
        open: Optional[Union[bool, str]] = None,
        metadata: Optional[str] = None,
        currency: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the payment links."""
        values = {
            "open": open,
            "metadata": metadata,
            "currency": currency,
            "from": from_,
            "to": to,
            "limit": limit,
            "cursor": cursor,
        }
        return self._page("account/links", "links", values)

    def list_rates(self) -> List[dict]:
        """Returns the rates in fiat that count now, as a list."""
        return self._call("GET", "rates", {})["rates"]

    def list_charges(
        self,
        *,
        status: Optional[str] = None,
        label: Optional[str] = None,
        attention: Optional[Union[bool, str]] = None,
        reference: Optional[str] = None,
        customer: Optional[str] = None,
        metadata: Optional[str] = None,
        currency: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the charges."""
        values = {
            "status": status,
            "label": label,
            "attention": attention,
            "reference": reference,
            "customer": customer,
            "metadata": metadata,
            "currency": currency,
            "from": from_,
            "to": to,
            "limit": limit,
            "cursor": cursor,
        }
        return self._page("account/charges", "charges", values)

    def get_account(self) -> dict:
        """Returns the account with its "balance", "pending" and "held" by currency."""
        return self._call("GET", "account", {})["account"]

    def list_ledger(
        self,
        *,
        currency: Optional[str] = None,
        kind: Optional[str] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the changes of the balance. The last page has the sums of archived lines as response["archived"]."""
        values = {
            "currency": currency,
            "kind": kind,
            "since": since,
            "until": until,
            "limit": limit,
            "cursor": cursor,
        }
        return self._page("account/ledger", "ledger", values)

    def get_statement(
        self,
        *,
        month: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        currency: Optional[str] = None,
        format: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> dict:
        """Returns a page of the statement of a month ("2026-01"), or of the period from from_ to to.

        With format="csv" it is {"csv": text, "nextCursor": cursor}: the texts behind each other are one file.
        """
        values = {
            "month": month,
            "from": from_,
            "to": to,
            "currency": currency,
            "format": format,
            "limit": limit,
            "cursor": cursor,
        }
        return self._call("GET", "account/statement", values)

    def withdraw(
        self,
        *,
        currency: str,
        amount: Amount,
        address: str,
        reference: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
        order: Optional[str] = None,
        signature: Optional[str] = None,
        created: Optional[float] = None,
        max_fee: str = "",
        idempotency_key: Optional[str] = None,
    ) -> dict:
        """Withdraws. Use your own ID of the payment, stored before the call, as idempotency_key or reference.

        With it the payment is made once, even if this process dies and another asks again. Without either, a second
        call is a second payment. order and signature are those of an account that signs its orders. A client with
        orders signs by itself what has none: created and max_fee are those of Orders.sign.
        """
        key = idempotency_key or draw_key()
        if self._orders and order is None:
            order, signature = self._orders.sign(
                currency=currency,
                amount=amount,
                address=address,
                idempotency_key=key,
                created=created,
                max_fee=max_fee,
            )
        values = {
            "currency": currency,
            "amount": amount,
            "address": address,
            "reference": reference,
            "metadata": metadata,
            "order": order,
        }
        path = "account/withdraw"
        return self._call("POST", path, values, key=key, secret=True, signature=signature)["withdrawal"]

    def quote_withdrawal(self, *, currency: str, amount: Amount, address: str) -> dict:
        """Returns what a withdrawal would cost, and holds nothing."""
        values = {
            "currency": currency,
            "amount": amount,
            "address": address,
        }
        return self._call("GET", "account/withdraw/fee", values)["quote"]

    def cancel_withdrawal(self, *, withdrawalID: str, idempotency_key: Optional[str] = None) -> dict:
        """Cancels a withdrawal that cannot have been signed yet, and returns it."""
        values = {
            "withdrawalID": withdrawalID,
        }
        return self._call("POST", "account/withdraw/cancel", values, key=idempotency_key, secret=True)["withdrawal"]

    def get_withdrawal(self, *, withdrawalID: str) -> dict:
        """Returns a withdrawal."""
        return self._call("GET", "account/withdrawal", {"withdrawalID": withdrawalID})["withdrawal"]

    def withdraw_each(
        self,
        *,
        withdrawals: Sequence[Mapping[str, Any]],
        idempotency_key: Optional[str] = None,
    ) -> List[dict]:
        """Withdraws up to 100 times, and returns a result for each, in their order.

        Each has its own reference, and its "withdrawal" or its "error". Repeat the call after any error of the whole,
        and where a result is unavailable or internal: none is taken twice. A client with orders signs each by its
        reference, and takes created and max_fee of it.
        """
        values = {
            "withdrawals": [self._signed(item) for item in withdrawals],
        }
        return self._call("POST", "account/withdrawals", values, key=idempotency_key, secret=True)["results"]

    def _signed(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns one withdrawal of several with its order, unless it has one or nothing signs."""
        sent = {name: value for name, value in item.items() if name not in ("created", "max_fee")}
        if self._orders and "order" not in sent:
            sent["order"], sent["signature"] = self._orders.sign(
                currency=item["currency"],
                amount=item["amount"],
                address=item["address"],
                idempotency_key=item["reference"],
                created=item.get("created"),
                max_fee=item.get("max_fee", ""),
            )
        return sent

    def list_withdrawals(
        self,
        *,
        status: Optional[str] = None,
        currency: Optional[str] = None,
        hashID: Optional[str] = None,
        address: Optional[str] = None,
        reference: Optional[str] = None,
        metadata: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the withdrawals. metadata is the text of a JSON object, and selects exactly that."""
        values = {
            "status": status,
            "currency": currency,
            "hashID": hashID,
            "address": address,
            "reference": reference,
            "metadata": metadata,
            "from": from_,
            "to": to,
            "limit": limit,
            "cursor": cursor,
        }
        return self._page("account/withdrawals", "withdrawals", values)

    def list_destinations(
        self,
        *,
        currency: Optional[str] = None,
        address: Optional[str] = None,
        usable: Optional[Union[bool, str]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the destinations of withdrawals; response has "enabled" and "enabledUntil" too."""
        values = {
            "currency": currency,
            "address": address,
            "usable": usable,
            "limit": limit,
            "cursor": cursor,
        }
        return self._page("account/destinations", "destinations", values)

    def list_order_keys(self) -> dict:
        """Returns the "keys" that sign orders, whether they are "required", and the signer's "instance"."""
        return self._call("GET", "account/order-keys", {})

    def list_all_deposits(
        self,
        *,
        status: Optional[str] = None,
        currency: Optional[str] = None,
        hashID: Optional[str] = None,
        address: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the deposits to all wallets and charges."""
        values = {
            "status": status,
            "currency": currency,
            "hashID": hashID,
            "address": address,
            "from": from_,
            "to": to,
            "limit": limit,
            "cursor": cursor,
        }
        return self._page("account/deposits", "deposits", values)

    def search(self, *, q: str) -> dict:
        """Finds what has exactly a text: "wallets", "charges", "deposits" and "withdrawals"."""
        return self._call("GET", "account/search", {"q": q})

    def list_requests(
        self,
        *,
        status: Optional[str] = None,
        path: Optional[str] = None,
        requestID: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists what was asked with the account's keys; status is one such as "422", or a class such as "4xx"."""
        values = {"status": status, "path": path, "requestID": requestID, "limit": limit, "cursor": cursor}
        return self._page("account/requests", "requests", values)

    def list_events(
        self,
        *,
        after: Optional[str] = None,
        type: Optional[str] = None,
        event: Optional[str] = None,
        wait: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> dict:
        """Returns a page of "events", oldest first, and the position behind it as "next". feed reads on by itself."""
        values = {
            "after": after,
            "type": type,
            "event": event,
            "wait": wait,
            "limit": limit,
        }
        return self._call("GET", "account/events", values)

    def list_deliveries(
        self,
        *,
        status: Optional[str] = None,
        event: Optional[str] = None,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> Page:
        """Lists the events and their delivery. A page may be empty before the list ends."""
        values = {"status": status, "event": event, "from": from_, "to": to, "limit": limit, "cursor": cursor}
        return self._page("account/webhooks", "webhooks", values)

    def redeliver(
        self,
        *,
        eventID: Optional[str] = None,
        since: Optional[Time] = None,
        idempotency_key: Optional[str] = None,
    ) -> int:
        """Sends one event, or all since a time, again, and returns how many."""
        values = {
            "eventID": eventID,
            "since": since,
        }
        return self._call("POST", "account/webhooks/redeliver", values, key=idempotency_key)["redelivered"]

    def test_webhook(
        self,
        *,
        walletID: Optional[str] = None,
        webhook: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> dict:
        """Sends a test event to a wallet's webhook, a URL or the account's webhook, and returns its delivery."""
        values = {
            "walletID": walletID,
            "webhook": webhook,
        }
        return self._call("POST", "account/webhooks/test", values, key=idempotency_key)["webhook"]
