"""Call a Bursar service and verify the webhooks that it sends. Only the standard library is needed, from Python 3.9 on.

    import bursar

    client = bursar.Client("https://pay.example", key="...", secret="...")
    wallet = client.create_wallet(currency="BTC", webhook="https://shop.example/hook", metadata="customer 7")
    for deposit in bursar.each(client.list_all_deposits, currency="BTC"):
        print(deposit["depositID"], deposit["amount"])

Answers are dicts with the names of the API. Amounts in them are text; compute with decimal.Decimal. An amount that is
sent may be text, a Decimal or an int, and never a float.
"""

from .call import Error, NoResponse
from .client import Client, Page, each
from .orders import OrderKey, Orders
from .webhook import (
    TOLERANCE,
    WebhookError,
    WebhookHeaders,
    WebhookSecret,
    WebhookSignature,
    WebhookTimestamp,
    sign_webhook,
    verify_webhook,
)

__all__ = [
    "TOLERANCE",
    "Client",
    "Error",
    "NoResponse",
    "OrderKey",
    "Orders",
    "Page",
    "WebhookError",
    "WebhookHeaders",
    "WebhookSecret",
    "WebhookSignature",
    "WebhookTimestamp",
    "each",
    "sign_webhook",
    "verify_webhook",
]
