// Package host implements what the sandbox's nodes have in common: how a node starts, answers and stops, and how it
// keeps its changes.
//
// It owns the options that every node takes, the lock of a data directory, the HTTP server, the order in which a node
// is closed, and the journal's file. It knows no chain: what a record is and what it does belongs to the node, and so
// does its lagging view. Faults are injected by Options.Wrap, in front of what a node answers (package fault).
//
// Invariants:
//   - a start that fails leaves nothing open: what was opened before is closed in the reverse order;
//   - Close stops the server first, so no request reaches a node whose parts are being closed, except those that
//     outlast their two seconds;
//   - one process at a time uses a data directory;
//   - a record is in the journal whole or not at all, in the order in which it was appended, and survives an abrupt end
//     of the process (not of the machine: nothing is synced);
//   - after a write that failed, and after Close, the journal takes no record any more.
package host
