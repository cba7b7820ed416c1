// Package xrpl simulates one XRP Ledger node inside this process, for the sandbox and for tests: there is no rippled
// that could be embedded.
//
// It owns a ledger of its own, in memory or with a journal, and serves the part of rippled's JSON-RPC and WebSocket
// API that reading and paying XRP needs, on one port. Signatures, sequences, fees, reserves, account flags and result
// codes are the real chain's, and so are transaction ids and ledger hashes. It differs in this: there is no
// consensus, so a ledger is validated when Mine makes it; the roots of the transaction and state trees are
// placeholders; only XRP exists, and other ways in which XRP arrives or seems to (checks, escrows, channels, deleted
// accounts, partial payments, issued currencies) are simulated by Deliver with metadata of the real form and without
// a signed transaction. It never connects to another node.
//
// Invariants:
//   - a request sees whole ledgers only;
//   - with a data directory every answer survives an abrupt end of the process;
//   - a validated ledger never changes: Reorg is refused.
package xrpl
