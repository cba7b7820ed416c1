// Reads refills of EVM chains with ethers and the interface of Safe 1.4.1: raw transactions in, what each does out.
import { Interface, Transaction, TypedDataEncoder, dataSlice, recoverAddress } from 'ethers';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const artifact = '@safe-global/safe-contracts/build/artifacts/contracts/Safe.sol/Safe.json';
const safe = new Interface(createRequire(import.meta.url)(artifact).abi);

const SafeTx = [
  ['address', 'to'], ['uint256', 'value'], ['bytes', 'data'], ['uint8', 'operation'], ['uint256', 'safeTxGas'],
  ['uint256', 'baseGas'], ['uint256', 'gasPrice'], ['address', 'gasToken'], ['address', 'refundReceiver'],
  ['uint256', 'nonce'],
].map(([type, name]) => ({ type, name }));

const answers = JSON.parse(readFileSync(0, 'utf8')).map(({ raw, nonce }) => {
  const { from, to, value, data, hash, chainId } = Transaction.from(raw);
  const said = { from, to, hash, chain: String(chainId), value: String(value) };
  if (nonce === undefined) return said;
  const { name, args } = safe.parseTransaction({ data });
  const tx = Object.fromEntries(SafeTx.slice(0, -1).map((field, i) => [field.name, args[i]]));
  const digest = TypedDataEncoder.hash({ chainId, verifyingContract: to }, { SafeTx }, { ...tx, nonce });
  const signatures = args[9], owners = [];
  for (let at = 0; at < (signatures.length - 2) / 2; at += 65) {
    owners.push(recoverAddress(digest, dataSlice(signatures, at, at + 65)));
  }
  return { ...said, name, digest, owners, pays: String(tx.value), receiver: tx.to, operation: String(tx.operation) };
});
console.log(JSON.stringify(answers));
