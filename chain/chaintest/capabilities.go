package chaintest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// What a Node may be able to do besides. The suite asks with a type assertion and passes over the tests that need more
// than a node has.

// Tokens is a node whose outsiders hold tokens of some contract. Its Pay takes payments of that contract too.
type Tokens interface {
	// Token returns the canonical contract of a token of which outsiders hold a million units and more.
	Token(t testing.TB) string
	// TokenBalance returns what an address holds of it in mined blocks.
	TokenBalance(t testing.TB, contract, address string) bursar.Amount
}

// Misbehaving is a node with tokens that do something else than they are asked, and say that all went well. Anyone who
// asks is told that the hot address holds plenty of them.
type Misbehaving interface {
	// Silent returns a token whose transfers return false: they move nothing, log nothing and succeed.
	Silent(t testing.TB) (contract string)
	// Taxing returns a token of which a hundredth of each transfer goes to a keeper.
	Taxing(t testing.TB) (contract, keeper string)
}

// Failing is a node that can put failing transactions into blocks.
type Failing interface {
	// PayFailed is Pay with a transaction that stands in the next mined block and fails there.
	PayFailed(t testing.TB, payment chain.Payment) string
	// Close makes every payment to an address fail from now on, as a contract does that takes no money.
	Close(t testing.TB, address string)
}

// Refusing is a chain on which some payments can never be made.
type Refusing interface {
	// Refusals returns payments that Quote answers with a *chain.RefusedError.
	Refusals(t testing.TB) []Refusal
}

// Refusal is a payment that can never be made, and whether that is so because of its small amount.
type Refusal struct {
	Payment chain.Payment
	Below   bool
}

// Expiring is a node that can outlive an unsigned transaction whose Expires is no height.
type Expiring interface {
	// Outlive moves the chain until the unsigned transaction can never be included.
	Outlive(t testing.TB, unsigned chain.UnsignedTx)
}
