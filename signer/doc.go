// Package signer owns the seed and everything derived from it: key paths, public keys, webhook secrets and signatures.
//
// It never talks to a node or to the service's database, and it does not trust the service: an unsigned transaction is
// parsed again from its bytes and is signed only if it pays exactly what the request says, costs no more than the
// policy allows, returns the rest to an address that the signer derives itself, and agrees with what package memory
// remembers of earlier ones: the rules coin-one-amount, quota and not-frozen. Its invariants: what a signature uses and
// counts is durable before the signature exists, and counts once; a secret leaves the package only
// through a method whose name says so (Mnemonic.Reveal, Mnemonic.Seed, Keys.WebhookSecret), never through formatting,
// logging or JSON; the derivation of a key never changes; a refusal is a *RefusalError and nothing is signed then.
//
// What it cannot see: a withdrawal to a deposit address of ours looks like any other payment, because the signer does
// not know which indexes are in use. It refuses only those of our addresses that the request or the transaction itself
// contains.
package signer
