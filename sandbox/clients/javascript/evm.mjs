// ethers: Ethereum, BNB Smart Chain and Polygon, coins and ERC-20 tokens.
import { fromHex, hex, patience, same, until } from './shared.mjs';

const abi = [
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address to, uint256 value)',
];
const types = { legacy: 0, 'access list': 1, '': 2 };

export async function connect({ load, rpc, contract, native, fund, chainID }) {
  const { Contract, Interface, JsonRpcProvider, Transaction, Wallet, keccak256 } = load('ethers');
  const provider = new JsonRpcProvider(rpc, undefined, { pollingInterval: 100, cacheTimeout: -1 });
  const { chainId } = await provider.getNetwork();
  if (chainID) same(String(chainId), chainID, 'the chain of the node, and not of the payment link,');
  const token = new Interface(abi);
  const balance = (of) => (contract ? new Contract(contract, abi, provider).balanceOf(of) : provider.getBalance(of));
  const payer = Wallet.createRandom(provider), receiver = Wallet.createRandom().address;
  await fund(payer.address);
  if (contract) await fund(payer.address, native); // for gas
  const funded = async (of) => (await balance(of)) > 0n && (await provider.getBalance(of)) > 0n;
  await until('funds', () => funded(payer.address));

  // transferred checks the events of a receipt: one Transfer, of this token, as the call asked for.
  function transferred(receipt, { signers, receiver: to, amount }) {
    const events = receipt.logs.map((log) => ({ of: log.address, ...token.parseLog(log) }));
    same(events.length, 1, 'the number of events');
    const [{ of, name, args }] = events;
    same(of, contract, 'the contract of the event');
    same(name, 'Transfer', 'the event');
    same([args.from, args.to, args.value].join(), [...signers, to, amount].join(), 'what the event tells');
  }

  return {
    receiver,
    async pay([{ address, units }], form) {
      const type = types[form];
      const sent = contract
        ? await new Contract(contract, abi, payer).transfer(address, units, { type })
        : await payer.sendTransaction({ to: address, value: units, type });
      same(sent.type, type, 'the type');
      const receipt = await sent.wait(1, patience);
      same(receipt.status, 1, 'the receipt');
      same(await balance(address), units, 'the balance of the wallet');
      return sent.hash;
    },
    async find(hashID) {
      const receipt = await provider.getTransactionReceipt(hashID);
      same(receipt.status, 1, 'the receipt');
      const final = await provider.getBlock('finalized');
      if (receipt.blockNumber > final.number) throw new Error(`block ${receipt.blockNumber} is not final, ${final.number} is`);
      same((await provider.getBlock(receipt.blockNumber)).hash, receipt.blockHash, 'the block');
      const bytes = fromHex((await provider.send('eth_getRawTransactionByHash', [hashID])).slice(2));
      const seen = this.read(bytes);
      if (contract) transferred(receipt, seen);
      const told = await provider.getTransaction(hashID); // the node's own reading of the bytes
      same([told.hash, told.from].join(), [seen.hashID, ...seen.signers].join(), 'what the node tells');
      return bytes;
    },
    read(bytes) {
      const own = Transaction.from('0x' + hex(bytes));
      same(own.serialized, '0x' + hex(bytes), 'the encoding');
      same(own.chainId, chainId, 'the chain');
      const [to, amount] = contract ? token.decodeFunctionData('transfer', own.data) : [own.to, own.value];
      if (contract) same(own.to, contract, 'the token');
      if (contract) same(own.value, 0n, 'the value');
      else same(own.data, '0x', 'the call');
      return { hashID: keccak256(bytes), signers: [own.from], receiver: to, amount };
    },
    balance: () => balance(receiver),
  };
}
