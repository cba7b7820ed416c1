// Package ethereum runs one Ethereum execution node inside this process, for the sandbox and for tests.
//
// It owns go-ethereum's real parts (state, EVM, transaction pool, JSON-RPC) on a chain of its own, and it acts as the
// consensus layer: blocks are made only when Mine or Reorg is called. It never connects to other nodes and never
// reads the service's database. Several nodes with different chain ids may run in one process.
//
// Invariants:
//   - no request sees a half-made block or a half-made reorg: both happen behind one lock;
//   - with a data directory every answer survives an abrupt end of the process;
//   - the finalized tag moves forward with Mine only, and never backwards;
//   - a transaction dropped by Reorg is in neither the chain nor the pool;
//   - a configured token is deployed and distributed to faucet accounts before any request is answered.
package ethereum
