// bitcoinjs-lib, with the curve of tiny-secp256k1: Bitcoin and Litecoin.
import { randomBytes } from 'node:crypto';
import { fromHex, hex, same, until } from './shared.mjs';

const fee = 20000n;
const settled = 3; // confirmations
const all = 1; // SIGHASH_ALL: every input and output is signed

export async function connect({ load, rpc, chain, fund }) {
  const { Psbt, Transaction, address: addresses, networks, payments, script } = load('bitcoinjs-lib');
  const curve = load('tiny-secp256k1');
  const network = chain === 'litecoin' ? { ...networks.regtest, bech32: 'rltc', scriptHash: 0x3a } : networks.regtest;
  const url = new URL(rpc);
  const authorization = 'Basic ' + btoa(`${url.username}:${url.password}`);

  async function call(method, ...params) {
    const answer = await fetch(url.origin, { method: 'POST', headers: { authorization }, body: JSON.stringify({ id: 1, method, params }) });
    const { result, error } = await answer.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }
  const idOf = (hash) => hex([...hash].reverse()); // as people write it
  const transaction = async (hash) => Transaction.fromHex(await call('getrawtransaction', hash));

  // coins are the outputs that an address holds. Their values are read from the transactions, not from JSON's floats.
  async function coins(address) {
    const { unspents } = await call('scantxoutset', 'start', [`addr(${address})`]);
    return Promise.all(unspents.map(async ({ txid, vout }) => ({ txid, vout, ...(await transaction(txid)).outs[vout] })));
  }

  function fresh() {
    const key = fromHex(hex(randomBytes(32)));
    const publicKey = curve.pointFromScalar(key, true);
    const sign = (digest) => curve.sign(digest, key);
    return { publicKey, sign, ...payments.p2wpkh({ pubkey: publicKey, network }) };
  }
  const payer = fresh(), receiver = fresh().address;
  const previous = new Map(); // transactions whose outputs are spent, by their hash
  await fund(payer.address);
  await until('funds', async () => (await coins(payer.address)).length > 0);

  // signer verifies a P2WPKH input against the output that it spends (BIP 143), and returns the address of that.
  function signer(own, index) {
    const { hash, index: output, witness } = own.ins[index];
    const spent = previous.get(idOf(hash)).outs[output];
    const [signature, publicKey] = witness;
    same(witness.length, 2, 'the length of the witness');
    same(hex(spent.script), hex(payments.p2wpkh({ pubkey: publicKey, network }).output), 'the script that is spent');
    const { signature: rs, hashType } = script.signature.decode(signature);
    same(hashType, all, 'what is signed');
    const code = payments.p2pkh({ pubkey: publicKey, network }).output;
    const digest = own.hashForWitnessV0(index, code, spent.value, hashType);
    same(curve.verify(digest, publicKey, rs, true), true, `the signature of input ${index}`);
    return addresses.fromOutputScript(spent.script, network);
  }

  return {
    receiver,
    async pay(list) {
      const [coin] = await coins(payer.address);
      const psbt = new Psbt({ network });
      psbt.addInput({ hash: coin.txid, index: coin.vout, witnessUtxo: { script: coin.script, value: coin.value } });
      for (const { address, units } of list) psbt.addOutput({ address, value: units });
      psbt.addOutput({ address: payer.address, value: list.reduce((left, { units }) => left - units, coin.value - fee) });
      psbt.signAllInputs(payer).finalizeAllInputs();
      const own = psbt.extractTransaction();
      same(await call('sendrawtransaction', own.toHex()), own.getId(), 'the hash');
      await until('block', async () => (await call('getrawtransaction', own.getId(), true)).confirmations);
      return own.getId();
    },
    async find(hashID) {
      const { hex: text, confirmations, hash } = await call('getrawtransaction', hashID, true);
      if (!(confirmations >= settled)) throw new Error(`there are ${confirmations} confirmations`);
      const own = Transaction.fromHex(text);
      same(idOf(own.getHash(true)), hash, 'the hash with witnesses');
      for (const { hash: spent } of own.ins) {
        const id = idOf(spent);
        previous.set(id, await transaction(id));
        same(previous.get(id).getId(), id, 'the hash of what is spent');
      }
      const [coin, ...others] = await coins(receiver);
      same(others.length, 0, 'the number of other coins of the receiver');
      same(coin.txid, hashID, 'the transaction that made the coin of the receiver');
      return fromHex(text);
    },
    read(bytes) {
      const own = Transaction.fromBuffer(bytes);
      same(hex(own.toBuffer()), hex(bytes), 'the encoding');
      const paid = own.outs.filter((out) => hex(out.script) === hex(addresses.toOutputScript(receiver, network)));
      same(paid.length, 1, 'the number of outputs to the receiver');
      const signers = own.ins.map((_, index) => signer(own, index));
      return { hashID: own.getId(), signers, receiver: addresses.fromOutputScript(paid[0].script, network), amount: paid[0].value };
    },
    balance: async () => (await coins(receiver)).reduce((sum, coin) => sum + coin.value, 0n),
  };
}
