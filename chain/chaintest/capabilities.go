package chaintest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// The optional interfaces of a Node. The suite asks with a type assertion and skips the tests that need one that a
// node does not have.

// Tokens is a node whose outsiders hold tokens of some contract. Its Pay takes payments of that contract too.
type Tokens interface {
	// Token returns the canonical contract of a token of which outsiders hold at least a million units.
	Token(t testing.TB) string
	// TokenBalance returns how many units of it an address holds in mined blocks.
	TokenBalance(t testing.TB, contract, address string) bursar.Amount
}

// Misbehaving is a node with tokens whose transfers succeed and do something else than was asked. Their balance of
// every address, and so of the hot wallet, is large.
type Misbehaving interface {
	// Silent returns a token whose transfers return false: they move nothing, log nothing and succeed.
	Silent(t testing.TB) (contract string)
	// Taxing returns a token that diverts a hundredth of each transfer to a keeper.
	Taxing(t testing.TB) (contract, keeper string)
}

// Failing is a node that can put failing transactions into blocks.
type Failing interface {
	// PayFailed is Pay with a transaction that is included in the next mined block and fails there.
	PayFailed(t testing.TB, payment chain.Payment) string
	// Close makes every payment to an address fail from now on, as a contract that accepts no payment does.
	Close(t testing.TB, address string)
}

// Refusing is a chain on which some payments can never be made.
type Refusing interface {
	// Refusals returns payments that Quote answers with a *chain.RefusedError.
	Refusals(t testing.TB) []Refusal
}

// Refusal is a payment that can never be made. Below says that the reason is its small amount.
type Refusal struct {
	Payment chain.Payment
	Below   bool
}

// Expiring is a node that can outlive an unsigned transaction whose Expires is not a height.
type Expiring interface {
	// Outlive moves the chain until the unsigned transaction can never be included.
	Outlive(t testing.TB, unsigned chain.UnsignedTx)
}
