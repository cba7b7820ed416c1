// Package e2e holds the test of the whole: the sandbox as a process of its own, driven from outside.
//
// It owns no code that is used elsewhere. It looks at the service only as a client and at the chains only through the
// remote control and the nodes' RPC, and it makes accounts with the operator's command. Its invariant: what it believes of
// money comes from the chains, and is held against what the service says, to the unit.
package e2e
