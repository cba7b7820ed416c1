// tronweb: Tron, its coin and TRC-20 tokens.
import { fromHex, hex, same, until } from './shared.mjs';

const signatureLength = 65;
const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const transferCall = 'a9059cbb';

export async function connect({ load, rpc, contract, native, fund }) {
  const { TronWeb, utils } = load('tronweb');
  const payer = utils.accounts.generateAccount(), receiver = utils.accounts.generateAccount().address.base58;
  const web = new TronWeb({ fullHost: rpc, privateKey: payer.privateKey });
  const token = contract && (await web.contract().at(contract));
  const balance = async (of) => BigInt(contract ? await token.balanceOf(of).call() : await web.trx.getUnconfirmedBalance(of));
  const base58 = (text) => web.address.fromHex(text);
  await fund(payer.address.base58);
  if (contract) await fund(payer.address.base58, native); // for energy
  const funded = async (of) => (await balance(of)) > 0n && (await web.trx.getUnconfirmedBalance(of)) > 0;
  await until('funds', () => funded(payer.address.base58));

  // transferred checks the events of a transaction: one Transfer, of this token, as the call asked for.
  function transferred(info, { signers, receiver: to, amount }) {
    same(info.receipt.result, 'SUCCESS', 'the receipt');
    same(info.log.length, 1, 'the number of events');
    const [{ address, topics, data }] = info.log;
    same(base58('41' + address), contract, 'the contract of the event');
    same(topics[0], transferTopic, 'the event');
    const parties = topics.slice(1).map((topic) => base58('41' + topic.slice(24)));
    same([...parties, BigInt('0x' + data)].join(), [...signers, to, amount].join(), 'what the event tells');
  }

  // payment is what a transaction that tronweb decoded pays.
  function payment({ type, parameter: { value } }) {
    if (!contract) return [type, base58(value.to_address), BigInt(value.amount)];
    same(base58(value.contract_address), contract, 'the token');
    const data = value.data.toLowerCase();
    same(data.slice(0, transferCall.length), transferCall, 'the call');
    const [to, amount] = utils.abi.decodeParams([], ['address', 'uint256'], '0x' + data.slice(transferCall.length));
    return [type, base58(to), BigInt(amount)];
  }

  return {
    receiver,
    async pay([{ address, units }]) {
      const hashID = contract
        ? await token.transfer(address, units.toString()).send({ feeLimit: 100_000_000 })
        : (await web.trx.sendTransaction(address, Number(units))).txid;
      const info = await until('block', async () => {
        const found = await web.trx.getUnconfirmedTransactionInfo(hashID);
        return found.id && found;
      });
      same(info.result, undefined, 'the failure');
      same(await balance(address), units, 'the balance of the wallet');
      return hashID;
    },
    async find(hashID) {
      const found = await web.trx.getConfirmedTransaction(hashID); // of a solidified block
      same(found.ret[0].contractRet, 'SUCCESS', 'the result');
      same(found.signature.length, 1, 'the number of signatures');
      same(utils.transaction.txCheck(found), true, 'the encoding'); // of the JSON anew, to this very id
      const bytes = fromHex(found.raw_data_hex + found.signature[0]);
      const info = await web.trx.getTransactionInfo(hashID);
      same(info.result, undefined, 'the failure');
      if (contract) transferred(info, this.read(bytes));
      return bytes;
    },
    read(bytes) {
      const raw = bytes.subarray(0, -signatureLength), signature = bytes.subarray(-signatureLength);
      const hashID = hex(utils.crypto.SHA256(raw));
      const signer = base58(utils.crypto.ecRecover(hashID, hex(signature)));
      const kind = contract ? 'TriggerSmartContract' : 'TransferContract';
      const decoded = utils.deserializeTx.deserializeTransaction(kind, hex(raw)).contract;
      same(decoded.length, 1, 'the number of contracts');
      same(base58(decoded[0].parameter.value.owner_address), signer, 'the owner');
      const [type, to, amount] = payment(decoded[0]);
      same(type, kind, 'the contract');
      return { hashID, signers: [signer], receiver: to, amount };
    },
    balance: () => balance(receiver),
  };
}
