// xrpl.js: the XRP Ledger, by WebSocket.
import { fromHex, hex, same, until } from './shared.mjs';

const ownTag = 77; // of the third-party client, who is paid at an X-address with it
const isTest = true; // of X-addresses

export async function connect({ load, rpc, fund }) {
  const { Client, Wallet, classicAddressToXAddress, decode, deriveAddress, encode, hashes, verifySignature, xrpToDrops } = load('xrpl');
  const client = new Client(rpc.replace('http:', 'ws:'));
  await client.connect();
  const payer = Wallet.generate(), own = Wallet.generate();
  await fund(payer.address);
  await until('funds', () => client.getXrpBalance(payer.address).catch(() => 0)); // there is no account until then

  // destination names a wallet as its form asks for.
  function destination(address, form) {
    const [base, tag] = address.split(':');
    if (form === 'X-address') return { Destination: classicAddressToXAddress(base, Number(tag), isTest) };
    return { Destination: base, DestinationTag: Number(tag) };
  }

  return {
    receiver: own.getXAddress(ownTag, isTest),
    async pay([{ address, units }], form) {
      const payment = { TransactionType: 'Payment', Account: payer.address, Amount: String(units), ...destination(address, form) };
      const { result } = await client.submitAndWait(payment, { wallet: payer });
      same(result.meta.TransactionResult, 'tesSUCCESS', 'the result');
      same(result.meta.delivered_amount, String(units), 'what was delivered');
      return result.hash;
    },
    async find(hashID) {
      const { result } = await client.request({ command: 'tx', transaction: hashID });
      same(result.validated, true, 'validated');
      same(result.meta.TransactionResult, 'tesSUCCESS', 'the result');
      const { result: binary } = await client.request({ command: 'tx', transaction: hashID, binary: true });
      const { amount } = this.read(fromHex(binary.tx_blob));
      same(result.meta.delivered_amount, String(amount), 'what was delivered');
      return fromHex(binary.tx_blob);
    },
    read(bytes) {
      const blob = hex(bytes).toUpperCase();
      const said = decode(blob);
      same(encode(said), blob, 'the encoding');
      same(verifySignature(blob), true, 'the signature');
      same(deriveAddress(said.SigningPubKey), said.Account, "the key's account");
      same(said.TransactionType, 'Payment', 'the type');
      const receiver = classicAddressToXAddress(said.Destination, said.DestinationTag ?? false, isTest);
      return { hashID: hashes.hashSignedTx(blob), signers: [said.Account], receiver, amount: BigInt(said.Amount) };
    },
    balance: async () => BigInt(xrpToDrops(await client.getXrpBalance(own.address))),
  };
}
