"""Plays calls, one line of JSON each, with the Python client: python3 player.py URL KEY SECRET WEBHOOK_SECRET."""

import json
import re
import sys

import bursar


def main() -> None:
    url, key, secret, webhook_secret = sys.argv[1:]
    client = bursar.Client(url, key, secret)

    def play(call: str, values: dict, key: str):
        if call == "verify":
            return bursar.verify_webhook(webhook_secret, values["headers"], values["body"].encode())
        if call == "nextEvent":
            return next(client.feed(**values))
        if call == "everyWallet":
            return list(bursar.each(client.list_wallets, **values))
        if key:
            values["idempotency_key"] = key
        return getattr(client, re.sub("(?<=[a-z])(?=[A-Z])", "_", call).lower())(**values)

    for line in sys.stdin:
        try:
            answer = {"result": play(**json.loads(line))}
        except bursar.Error as e:
            answer = {"error": {"status": e.status, "code": e.code, "field": e.field, "docs": e.docs}}
        except bursar.WebhookSignature:
            answer = {"error": {"code": "signature"}}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
