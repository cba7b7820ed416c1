// Package e2e tests the whole: the sandbox as a process of its own, driven from outside, in every currency.
//
// It owns no code that is used elsewhere. It uses the service only as a client, and the chains only through the
// remote control and the nodes' RPC; it creates accounts and reconciles with the operator's command, and receives
// webhooks itself. Its invariant: what it expects of money comes from the chains, and is compared with what the
// service reports, to the unit. The scenarios know no chain by name: chains and currencies are those of the registry,
// and what the chains of a family can do is in one table.
package e2e
