// Makes and signs what XRPL accounts of cold wallets need, with xrpl.js: a question in, an answer out.
import { Wallet, decode, encode, encodeForMultiSigning, hashes, multisign, verifyKeypairSignature, verifySignature } from 'xrpl';
import { readFileSync } from 'node:fs';

const wallet = (entropy) => Wallet.fromEntropy(Buffer.from(entropy, 'hex')); // ed25519
const signed = (by, tx) => by.sign(tx).tx_blob;

// setup makes a list of signers for a new account, with a device among them, and disables its master key.
function setup({ account, device, signers, quorum }) {
  const of = wallet(account), also = wallet(device);
  const common = { Account: of.address, Fee: '10', Flags: 0 };
  const SignerEntries = [...signers, also.address]
    .map((Account, i) => ({ SignerEntry: { Account, SignerWeight: i === 0 ? 2 : 1 } }));
  return {
    account: of.address,
    device: also.address,
    list: (Sequence) => signed(of, { ...common, TransactionType: 'SignerListSet', SignerQuorum: quorum, SignerEntries, Sequence }),
    disable: (Sequence) => signed(of, { ...common, TransactionType: 'AccountSet', SetFlag: 4, Sequence }),
  };
}

const asked = JSON.parse(readFileSync(0, 'utf8'));
if (asked.sequence) {
  const { list, disable, ...rest } = setup(asked);
  console.log(JSON.stringify({ ...rest, list: list(asked.sequence), disable: disable(asked.sequence + 1) }));
} else {
  const device = wallet(asked.device), unsigned = decode(asked.unsigned), ours = decode(asked.ours);
  const bySeveral = device.sign(unsigned, true).tx_blob;
  const together = multisign([asked.ours, bySeveral]);
  const checks = ours.Signers.map(({ Signer }) =>
    verifyKeypairSignature(encodeForMultiSigning(ours, Signer.Account), Signer.TxnSignature, Signer.SigningPubKey));
  console.log(JSON.stringify({
    bySeveral, together, checks, hash: hashes.hashSignedTx(together), type: unsigned.TransactionType,
    amount: unsigned.Amount, fee: unsigned.Fee, destination: unsigned.Destination, same: encode(ours) === asked.ours,
    alone: device.sign(decode(asked.single)).tx_blob, seed: verifySignature(asked.seed),
  }));
}
