// Package clients holds the test in which client libraries that others wrote meet the sandbox: they pay the service,
// and judge what it paid.
//
// It owns the versions of those libraries and the knowledge where they lie. It signs and encodes nothing itself: the
// programs in javascript do that with the libraries alone. Its invariant: a third-party client knows of the service
// only addresses, amounts and a transaction's hash, and of a chain only what its node's interface says.
package clients
