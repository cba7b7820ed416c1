// Package tron simulates one Tron full node inside this process, for the sandbox and for tests: java-tron's HTTP API
// over a chain of its own. It is a simulator and not a node of the network: it has no witnesses, elections, staking or
// TRC-10.
//
// It keeps of the real chain: transactions in their own encoding, with signatures, expiration, reference blocks and
// duplicates checked in java-tron's order and refused with its codes; bandwidth with the free daily share, activation
// of accounts, energy; blocks whose ids begin with their height; a solidified block that trails the head, and forks
// above it. Contracts run in go-ethereum's EVM: energy is its gas, which is close to Tron's but not the same number,
// and a contract's address follows Ethereum's rule. The supported kinds of contracts are TransferContract and
// TriggerSmartContract.
//
// Invariants:
//   - no request sees a half-made block or a half-made reorg: both happen behind one lock;
//   - with a data directory every answer survives an abrupt end of the process;
//   - the solidified block never moves backwards, and nothing at or below it is replaced;
//   - a transaction dropped by Reorg is in neither the chain nor the pool.
package tron
