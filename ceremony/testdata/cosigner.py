# Electrum (Debian's 4.3.4) as a cosigner of a cold wallet, without a network. It reads one line of JSON and writes one.
import json
import sys
import tempfile

from electrum import constants, keystore
from electrum.bip32 import BIP32Node
from electrum.util import create_and_start_event_loop
from electrum.simple_config import SimpleConfig
from electrum.transaction import PartialTransaction, tx_from_any
from electrum.wallet import Multisig_Wallet
from electrum.wallet_db import WalletDB

constants.set_regtest()
loop, stop, thread = create_and_start_event_loop()
asked = json.loads(sys.stdin.readline())
path = "m/84'/1'/0'"
own = keystore.BIP32_KeyStore({})
own.add_xprv_from_seed(bytes.fromhex(asked["seed"]), "p2wsh", path)
db = WalletDB("", manual_upgrades=False)
db.put("wallet_type", "2of3")
db.put("x1/", own.dump())
for n, other in enumerate(asked["others"]):
    xpub = BIP32Node.from_xkey(other["xpub"])._replace(xtype="p2wsh").to_xpub()
    cosigner = keystore.from_xpub(xpub)
    cosigner.add_key_origin(derivation_prefix=path, root_fingerprint=other["fingerprint"])
    db.put("x%d/" % (n + 2), cosigner.dump())
wallet = Multisig_Wallet(db, None, config=SimpleConfig({"electrum_path": tempfile.mkdtemp()}))
wallet.synchronize()

answers = []
for text in asked["psbts"]:
    tx = tx_from_any(text)
    assert isinstance(tx, PartialTransaction), "it is no PSBT"
    answer = {
        "inputs": [i.value_sats() for i in tx.inputs()],
        "outputs": [[o.address, o.value] for o in tx.outputs()],
        "fee": tx.get_fee(),
    }
    wallet.sign_transaction(tx, None)
    answer["change"] = [wallet.is_mine(o.address) for o in tx.outputs()]
    answer["complete"] = tx.is_complete()
    answer["signed"] = tx.serialize()
    answers.append(answer)
tpub = BIP32Node.from_xkey(own.xpub)._replace(xtype="standard").to_xpub()
print(json.dumps({
    "expression": "[%s/84h/1h/0h]%s" % (own.get_root_fingerprint(), tpub),
    "address": wallet.get_receiving_addresses()[0],
    "answers": answers,
}))
sys.stdout.flush()
loop.call_soon_threadsafe(stop.set_result, 1)
thread.join(timeout=5)
