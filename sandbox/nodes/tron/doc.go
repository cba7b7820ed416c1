// Package tron simulates one Tron full node inside this process, for the sandbox and for tests: java-tron's HTTP API
// over a chain of its own. It is a simulator and no node of the network: no witnesses, no votes, no staking, no TRC-10.
//
// What it keeps of the real chain: transactions in their own encoding, with signatures, expiration, reference blocks
// and duplicates checked in java-tron's order and refused with its codes; bandwidth with the free daily share,
// activation of accounts, energy; blocks whose ids begin with their height; a solidified block that trails the head,
// and forks above it. Contracts run in go-ethereum's EVM: energy is its gas, which is close to Tron's but not the same
// number, and a contract's address is made by Ethereum's rule. Of the kinds of contracts it takes TransferContract and
// TriggerSmartContract.
//
// Invariants:
//   - no request sees a half-made block or a half-made reorganisation: both happen behind one lock;
//   - whatever a request has been told survives an abrupt end of the process when there is a data directory;
//   - the solidified block never moves backwards, and nothing at or below it is replaced;
//   - a transaction given up by Reorg is in neither the chain nor the pool.
package tron
