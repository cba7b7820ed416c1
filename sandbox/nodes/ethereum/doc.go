// Package ethereum runs one Ethereum execution node inside this process, for the sandbox and for tests.
//
// It owns go-ethereum's real parts (state, EVM, transaction pool, JSON-RPC) on a chain of its own, and it plays the
// consensus layer: blocks are made only when Mine or Reorg is called. It never talks to other nodes and never reads
// the service's database. Several nodes with different chain ids may run in one process.
//
// Invariants:
//   - no request sees a half-made block or a half-made reorganisation: both happen behind one lock;
//   - whatever a request has been told survives an abrupt end of the process when there is a data directory;
//   - the finalized tag moves forward with Mine only, and never backwards;
//   - a transaction given up by Reorg is in neither the chain nor the pool;
//   - a configured token is on the chain, and given out to faucet accounts, before anybody is answered.
package ethereum
