package signer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Signer signs orders in this process. It is safe for concurrent use. What it remembers between calls is what is
// halted, and what left within the last hour, where a policy limits that.
type Signer struct {
	redacted
	keys     *Keys
	policies map[bursar.ChainID]*chainPolicy
	halts    *halts
}

// New returns a signer for the chains that have a policy. The error is ErrBadPolicy, or one of deriving a hot address.
func New(keys *Keys, policies map[bursar.ChainID]Policy) (*Signer, error) {
	s := &Signer{keys: keys, policies: map[bursar.ChainID]*chainPolicy{}, halts: &halts{}}
	for id, policy := range policies {
		d, err := newChainPolicy(keys, id, policy)
		if err != nil {
			return nil, err
		}
		s.policies[id] = d
	}
	return s, nil
}

// Public returns a key's public half, as Keys.Public.
func (s *Signer) Public(ref chain.KeyRef) (chain.PublicKey, error) { return s.keys.Public(ref) }

// WebhookSecret returns the secret of an account's webhooks, as Keys.WebhookSecret.
func (s *Signer) WebhookSecret(account bursar.ID, generation uint32) []byte {
	return s.keys.WebhookSecret(account, generation)
}

// Fingerprint names the seed, as Keys.Fingerprint.
func (s *Signer) Fingerprint() string { return s.keys.Fingerprint() }

// SignedReader is implemented by an adapter that can read a signed transaction by itself. A signer then checks that
// joining the signatures has changed neither a payment nor the fee.
type SignedReader interface {
	// InspectSigned reads SignedTx.Raw as Inspect reads the unsigned bytes; Inputs and Weight may be left out.
	InspectSigned(raw []byte) (chain.Contents, error)
}

// Sign reads the unsigned transaction's bytes, holds them against the order and the policy, and signs. It is
// repeatable: the same order and draft give the same transaction. A *RefusalError means that this draft is never to be
// signed as it stands; any other error is one of the context or of a key.
//
// A withdrawal must pay the order's payments, each as often as it stands there, and nothing else but at most one change
// output to our hot address, on a chain that uses the UTXO model. A sweep must pay our hot address only: a token
// exactly, the native asset up to the order's amount. A gas top-up must pay exactly the order to a deposit address of
// ours, which Order.Change names with its key, since a chain that uses the account model has no change.
func (s *Signer) Sign(
	ctx context.Context, id bursar.ChainID, order chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	d := s.policies[id]
	if d == nil {
		return chain.SignedTx{}, &RefusalError{id, order.ID, ReasonUnknownChain, "no policy allows it"}
	}
	if err := s.mayLeave(id, order); err != nil {
		return chain.SignedTx{}, err
	}
	unsigned.Reservations, unsigned.Bytes = slices.Clone(unsigned.Reservations), bytes.Clone(unsigned.Bytes)
	c := &check{policy: d, keys: s.keys, order: order, unsigned: unsigned, bases: map[chain.KeyRef]string{}}
	if err := c.run(); err != nil {
		return chain.SignedTx{}, err
	}
	signatures := make([][]byte, len(c.contents.Inputs))
	for i, input := range c.contents.Inputs {
		if err := ctx.Err(); err != nil {
			return chain.SignedTx{}, fmt.Errorf("sign spend %s: %w", order.ID, err)
		}
		signature, err := s.keys.sign(input.Source.Key, input.Digest)
		if errors.Is(err, errBadSignature) {
			return chain.SignedTx{}, c.refuse(ReasonSignature, "input %d", i)
		}
		if err != nil {
			return chain.SignedTx{}, fmt.Errorf("sign spend %s, input %d: %w", order.ID, i, err)
		}
		signatures[i] = signature
	}
	signed, err := c.join(signatures)
	if err == nil { // it may have been halted meanwhile: then the signatures are withheld
		err = s.mayLeave(id, order)
	}
	if err != nil {
		return chain.SignedTx{}, err
	}
	return signed, nil
}

// join assembles the transaction from a copy of the unsigned transaction and looks at the result.
func (c *check) join(signatures [][]byte) (chain.SignedTx, error) {
	copied := c.unsigned
	copied.Reservations, copied.Bytes = slices.Clone(c.unsigned.Reservations), bytes.Clone(c.unsigned.Bytes)
	tx, err := c.policy.Signable.Assemble(copied, signatures)
	if err != nil {
		return chain.SignedTx{}, c.refuse(ReasonAltered, "the adapter cannot join its signatures: %v", err)
	}
	if err := c.signed(tx); err != nil {
		return chain.SignedTx{}, err
	}
	return tx, nil
}
