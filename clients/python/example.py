"""Creates a wallet, waits for what is paid to it, and shows the balance.

    BURSAR_API=http://127.0.0.1:8080 BURSAR_API_KEY=... python3 example.py BTC https://shop.example/hook
"""

import os
import sys

import bursar


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: example.py CURRENCY WEBHOOK")
    currency, webhook = sys.argv[1:]
    client = bursar.Client(os.environ["BURSAR_API"], os.environ["BURSAR_API_KEY"])
    position = client.list_events(after="newest")["next"]
    try:
        wallet = client.create_wallet(currency=currency, webhook=webhook, metadata="customer 7")
    except bursar.Error as refused:
        sys.exit(f"{refused.code} of {refused.field or 'the request'}, see {refused.docs}: {refused.message}")
    print("pay to", wallet["address"], flush=True)
    for event in client.feed(after=position, wait=20, event="deposit"):
        if event["deposit"]["walletID"] == wallet["walletID"]:
            print("paid", event["deposit"]["amount"])
            print("balance", client.get_account()["balance"][currency])
            return


if __name__ == "__main__":
    main()
