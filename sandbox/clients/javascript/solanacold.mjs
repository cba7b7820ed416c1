// Reads refills of Solana with @solana/web3.js, and signs one as a device: a question in, an answer out.
import { Keypair, NONCE_ACCOUNT_LENGTH, NonceAccount, PublicKey, SystemInstruction, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { device, all, nonces } = JSON.parse(readFileSync(0, 'utf8'));
const keypair = Keypair.fromSeed(Buffer.from(device, 'hex'));

// verified checks an ed25519 signature with Node.js.
function verified(key, message, signature) {
  const spki = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key.toBytes()]);
  return verify(null, message, createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature);
}

const read = all.map((raw) => {
  const bytes = Buffer.from(raw, 'base64'), tx = VersionedTransaction.deserialize(bytes), { message } = tx;
  const { instructions, payerKey, recentBlockhash } = TransactionMessage.decompile(message);
  const [advance, , , pay] = instructions;
  const { noncePubkey, authorizedPubkey } = SystemInstruction.decodeNonceAdvance(advance);
  const { fromPubkey, toPubkey, lamports } = SystemInstruction.decodeTransfer(pay);
  const whole = VersionedTransaction.deserialize(bytes);
  const mine = payerKey.equals(keypair.publicKey);
  if (mine) whole.sign([keypair]);
  return {
    version: String(tx.version),
    tables: message.addressTableLookups.length,
    count: instructions.length,
    payer: payerKey.toBase58(),
    nonce: recentBlockhash,
    account: noncePubkey.toBase58(),
    authority: authorizedPubkey.toBase58(),
    from: fromPubkey.toBase58(),
    to: toPubkey.toBase58(),
    lamports: String(lamports),
    again: Buffer.from(tx.serialize()).toString('base64'),
    verified: verified(payerKey, message.serialize(), tx.signatures[0]),
    signed: mine ? Buffer.from(whole.serialize()).toString('base64') : '',
  };
});

// What an operator makes a nonce account with: its instructions, as the library has them.
const account = new PublicKey(nonces.account);
const [create, initialize] = SystemProgram.createNonceAccount({
  fromPubkey: keypair.publicKey, noncePubkey: account, authorizedPubkey: new PublicKey(nonces.authority), lamports: 1_447_680,
}).instructions;
const state = NonceAccount.fromAccountData(Buffer.from(nonces.data, 'base64'));
console.log(JSON.stringify({
  read,
  device: keypair.publicKey.toBase58(),
  size: NONCE_ACCOUNT_LENGTH,
  made: SystemInstruction.decodeCreateAccount(create).space === NONCE_ACCOUNT_LENGTH &&
    SystemInstruction.decodeNonceInitialize(initialize).authorizedPubkey.toBase58() === nonces.authority,
  authority: state.authorizedPubkey.toBase58(),
  nonce: state.nonce,
}));
