// Package clients tests the service in the sandbox with third-party client libraries: they pay the service, and check
// what it paid.
//
// It owns the versions of those libraries and the knowledge of where they are. It signs and encodes nothing itself:
// the programs in javascript do that with the libraries alone. Its invariant: a third-party client knows of the
// service only addresses, amounts and a transaction's hash, and of a chain only what its node's interface returns.
//
// It tests our own clients of other languages too, those in clients/: they play scenario.json, and the Go client with
// them.
package clients
