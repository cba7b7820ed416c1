// Package e2e holds the test of the whole: the sandbox as a process of its own, driven from outside, in every currency.
//
// It owns no code that is used elsewhere. It looks at the service only as a client, and at the chains only through the
// remote control and the nodes' RPC; it makes accounts and reconciles with the operator's command, and receives
// webhooks itself. Its invariant: what it believes of money comes from the chains, and is held against what the service
// says, to the unit. The scenes know no chain by name: what a chain can do stands in one table, and another currency is
// a line.
package e2e
