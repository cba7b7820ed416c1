// Makes and signs what Tron accounts of cold wallets need, with tronweb: a question in, an answer out.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const { TronWeb, utils } = createRequire(import.meta.url)('tronweb');
const asked = JSON.parse(readFileSync(0, 'utf8'));
const web = new TronWeb({ fullHost: asked.url });
const base58 = (text) => web.address.fromHex(text);

// transfers may be made with these operations: bits 1 (TransferContract) and 31 (TriggerSmartContract).
const operations = '0200008000000000000000000000000000000000000000000000000000000000';

// setup gives an account an active permission of several keys, and its owner's permission to the same.
async function setup({ owner, keys, threshold }) {
  const account = web.address.fromPrivateKey(owner);
  const permission = { threshold, keys: keys.map((address, i) => ({ address, weight: i === 0 ? 2 : 1 })) };
  const tx = await web.transactionBuilder.updateAccountPermissions(account, { type: 0, permission_name: 'owner', ...permission },
    undefined, [{ type: 2, permission_name: 'cold', operations, ...permission }]);
  const sent = await web.trx.sendRawTransaction(await web.trx.sign(tx, owner));
  return { account, sent: Boolean(sent.result), says: JSON.stringify(sent) };
}

// signs reads a transaction in the chain's encoding, and adds a device's signature to it.
async function signs({ kind, transaction, device }) {
  const bytes = Buffer.from(transaction, 'hex'), fields = { 1: [], 2: [] };
  for (let at = 0; at < bytes.length; ) {
    const field = bytes[at++] >> 3;
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      size |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    fields[field].push(bytes.subarray(at, (at += size)).toString('hex'));
  }
  const [raw_data_hex] = fields[1];
  const raw_data = utils.deserializeTx.deserializeTransaction(kind, raw_data_hex);
  const txID = Buffer.from(utils.crypto.SHA256(Buffer.from(raw_data_hex, 'hex'))).toString('hex');
  const tx = { visible: false, txID, raw_data, raw_data_hex, signature: fields[2] };
  const [{ parameter: { value }, Permission_id }] = raw_data.contract;
  const whole = device && (await web.trx.sign(structuredClone(tx), device, false, true));
  return {
    id: txID,
    same: utils.transaction.txCheck(tx),
    owner: base58(value.owner_address),
    to: base58(value.to_address ?? value.contract_address),
    amount: String(value.amount ?? BigInt('0x' + value.data.slice(72))),
    permission: Permission_id ?? 0,
    signers: fields[2].map((signature) => base58(utils.crypto.ecRecover(txID, signature))),
    signature: whole ? whole.signature.at(-1) : '',
  };
}

console.log(JSON.stringify(asked.owner ? await setup(asked) : await Promise.all(asked.all.map(signs))));
