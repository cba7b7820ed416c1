// Package solana simulates one Solana RPC node inside this process, for the sandbox and for tests. It is not a
// validator: there is no consensus and no network, and getVersion says so. Transactions are executed by programs of
// its own, as far as payments need them, or, if configured, by LiteSVM: the real virtual machine. The tests check
// that the two give the same answers.
//
// It owns a chain of its own: slots of which some stay empty, blocks, accounts, commitment levels, the system and
// compute budget programs as far as plain payments need them, fees, rent, blockhashes that expire, and the JSON-RPC
// methods that clients use for such work, with the subscriptions of its WebSocket. Blocks are made only when Mine,
// Reorg or Rollback is called. It refuses what it cannot run.
//
// Invariants:
//   - lamports are neither created nor lost, except for fees, which are burnt;
//   - a transaction is in at most one block of the chain, under a blockhash of that chain at most 150 blocks old;
//   - no request sees a half-made block or a half-made reorg;
//   - Reorg never replaces a finalized block; Rollback does, which no real cluster does to its nodes;
//   - with a data directory every answer survives an abrupt end of the process.
package solana
