// @solana/web3.js: Solana.
import { hex, same, until } from './shared.mjs';

export async function connect({ load, rpc, fund }) {
  const { Connection, Keypair, PublicKey, SystemInstruction, SystemProgram, Transaction, TransactionMessage, VersionedTransaction } =
    load('@solana/web3.js');
  const base58 = load('bs58');
  const node = new Connection(rpc, 'confirmed');
  const payer = Keypair.generate(), receiver = Keypair.generate().publicKey;
  await fund(payer.publicKey.toBase58());
  await until('funds', () => node.getBalance(payer.publicKey));

  // signed makes a payment in one of the two forms that transactions have.
  function signed(instructions, { blockhash, lastValidBlockHeight }, form) {
    if (form === 'versioned') {
      const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash: blockhash, instructions });
      const payment = new VersionedTransaction(message.compileToV0Message());
      payment.sign([payer]);
      return payment;
    }
    const payment = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight });
    payment.add(...instructions).sign(payer);
    return payment;
  }

  async function confirmed(hash) {
    const status = await until('confirmation', async () => {
      const found = (await node.getSignatureStatuses([hash])).value[0];
      return found && found.confirmationStatus !== 'processed' && found;
    });
    same(status.err, null, 'the error');
  }

  // wire is a transaction as it was sent, which the library never asks for.
  async function wire(hash, options) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getTransaction', params: [hash, { ...options, encoding: 'base64' }] });
    const answer = await fetch(rpc, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    return Uint8Array.from(Buffer.from((await answer.json()).result.transaction[0], 'base64'));
  }

  return {
    receiver: receiver.toBase58(),
    async pay(list, form) {
      const transfers = list.map(({ address, units }) =>
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: new PublicKey(address), lamports: units }));
      const payment = signed(transfers, await node.getLatestBlockhash(), form);
      const hash = await node.sendRawTransaction(payment.serialize());
      await confirmed(hash);
      const found = await node.getTransaction(hash, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
      same(String(found.version), form === 'versioned' ? '0' : 'legacy', 'the version');
      return hash;
    },
    async find(hashID) {
      const [status] = (await node.getSignatureStatuses([hashID], { searchTransactionHistory: true })).value;
      same(status.confirmationStatus, 'finalized', 'the status');
      const options = { commitment: 'finalized', maxSupportedTransactionVersion: 0 };
      const { meta, transaction } = await node.getTransaction(hashID, options);
      same(meta.err, null, 'the error');
      const bytes = await wire(hashID, options);
      const encoded = new VersionedTransaction(transaction.message, transaction.signatures.map((text) => base58.decode(text)));
      same(hex(encoded.serialize()), hex(bytes), 'the encoding of the JSON');
      const place = transaction.message.accountKeys.findIndex((key) => key.equals(receiver));
      same(BigInt(meta.postBalances[place] - meta.preBalances[place]), this.read(bytes).amount, 'what was delivered');
      return bytes;
    },
    read(bytes) {
      const own = Transaction.from(bytes);
      same(own.verifySignatures(), true, 'the signatures');
      same(hex(own.serialize()), hex(bytes), 'the encoding');
      const transfers = own.instructions
        .filter((i) => i.programId.equals(SystemProgram.programId) && SystemInstruction.decodeInstructionType(i) === 'Transfer')
        .map((i) => SystemInstruction.decodeTransfer(i));
      same(transfers.length, 1, 'the number of transfers');
      const [{ fromPubkey, toPubkey, lamports }] = transfers;
      same(fromPubkey.toBase58(), own.feePayer.toBase58(), 'the payer');
      const signers = own.signatures.map(({ publicKey }) => publicKey.toBase58());
      return { hashID: base58.encode(own.signature), signers, receiver: toPubkey.toBase58(), amount: lamports };
    },
    balance: async () => BigInt(await node.getBalance(receiver, 'finalized')),
  };
}
