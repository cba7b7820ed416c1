package signer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// Signer signs transaction requests in this process. It is safe for concurrent use. Between calls it holds the halts,
// and remembers in its memory what it signed.
type Signer struct {
	redacted
	keys      *Keys
	bounds    map[bursar.ChainID]*chainBounds
	halts     *halts
	evaluator *evaluator

	suspicion *suspicion
	refusals  *refusals
	spends    *spends // nil: external spends freeze nothing
	thaw      *thaw
}

// New returns a signer for the chains that have bounds, which forgets with its process. The error is ErrBadBounds, or
// one of deriving the hot wallet's address.
func New(keys *Keys, bounds map[bursar.ChainID]Bounds) (*Signer, error) {
	return NewWithMemory(context.Background(), keys, bounds, memory.NewRAM())
}

// NewWithMemory is New with a memory, which the caller closes after the last signature.
func NewWithMemory(
	ctx context.Context, keys *Keys, bounds map[bursar.ChainID]Bounds, keeper memory.Keeper,
) (*Signer, error) {
	evaluator, err := newEvaluator(ctx, keeper)
	if err != nil {
		return nil, err
	}
	s := &Signer{keys: keys, bounds: map[bursar.ChainID]*chainBounds{}, halts: &halts{}, evaluator: evaluator,
		suspicion: &suspicion{}, refusals: &refusals{}, thaw: &thaw{}}
	for id, of := range bounds {
		d, err := newChainBounds(keys, id, of)
		if err != nil {
			return nil, err
		}
		s.bounds[id] = d
	}
	return s, nil
}

// Public returns a key's public half, as Keys.Public.
func (s *Signer) Public(ref chain.KeyRef) (chain.PublicKey, error) { return s.keys.Public(ref) }

// WebhookSecret returns the secret of an account's webhooks, as Keys.WebhookSecret.
func (s *Signer) WebhookSecret(account bursar.ID, generation uint32) []byte {
	return s.keys.WebhookSecret(account, generation)
}

// Fingerprint identifies the seed, as Keys.Fingerprint.
func (s *Signer) Fingerprint() string { return s.keys.Fingerprint() }

// SignedReader is implemented by an adapter that can read a signed transaction by itself. A signer then checks that
// joining the signatures has changed neither a payment nor the fee.
type SignedReader interface {
	// InspectSigned reads SignedTx.Raw as Inspect reads the unsigned bytes; Inputs and Weight may be left out.
	InspectSigned(raw []byte) (chain.Contents, error)
}

// Sign parses the unsigned transaction's bytes, checks them against the request and the policy, and signs. It is
// deterministic: the same request and unsigned transaction give the same signed transaction. What it signs is durable
// in its memory before the signature exists. A *RefusalError means that this unsigned transaction is not signed as it
// is; any other error is one of the context, of a key or of the memory.
//
// A withdrawal must make the request's payments, each as often as the request has it, and nothing else except at most
// one change output to the hot wallet on the UTXO model. A sweep must pay the hot wallet only: a token exactly, the
// native asset up to the request's amount. A gas top-up must pay exactly the requested amount to a deposit address of
// ours, whose key is in TxRequest.Change, since a chain that uses the account model has no change. On the UTXO model
// UnsignedTx.Previous must prove what each input holds.
func (s *Signer) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	signed, err := s.signUnlogged(ctx, id, request, unsigned)
	s.noteRefusal(ctx, id, err)
	return signed, err
}

// signUnlogged is Sign without logging refusals.
func (s *Signer) signUnlogged(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	d := s.bounds[id]
	if d == nil {
		return chain.SignedTx{}, &RefusalError{Chain: id, OutgoingID: request.ID, Reason: ReasonUnknownChain,
			Detail: "no policy allows it"}
	}
	if err := s.mayLeave(id, request); err != nil {
		return chain.SignedTx{}, err
	}
	unsigned.Reservations, unsigned.Bytes = slices.Clone(unsigned.Reservations), bytes.Clone(unsigned.Bytes)
	c := &check{bounds: d, keys: s.keys, request: request, unsigned: unsigned, bases: map[chain.KeyRef]string{}}
	signed, err := s.sign(ctx, c)
	if err != nil {
		s.consider(ctx, c, err)
		return chain.SignedTx{}, err
	}
	return signed, nil
}

// sign is Sign of a request that is not halted.
func (s *Signer) sign(ctx context.Context, c *check) (chain.SignedTx, error) {
	if err := c.run(); err != nil {
		return chain.SignedTx{}, err
	}
	if err := s.evaluator.remember(ctx, c); err != nil {
		return chain.SignedTx{}, err
	}
	signatures := make([][]byte, len(c.contents.Inputs))
	for i, input := range c.contents.Inputs {
		if err := ctx.Err(); err != nil {
			return chain.SignedTx{}, fmt.Errorf("sign outgoing transaction %s: %w", c.request.ID, err)
		}
		signature, err := s.keys.sign(input.Source.Key, input.Digest)
		if errors.Is(err, errBadSignature) {
			return chain.SignedTx{}, c.refuse(ReasonSignature, "input %d", i)
		}
		if err != nil {
			return chain.SignedTx{}, fmt.Errorf("sign outgoing transaction %s, input %d: %w", c.request.ID, i, err)
		}
		signatures[i] = signature
	}
	signed, err := c.join(signatures)
	if err != nil {
		return chain.SignedTx{}, err
	}
	// it may have been halted or frozen in the meantime: then it is withheld
	done, err := s.Leaving(c.bounds.Capabilities.ID, c.request)
	if err != nil {
		return chain.SignedTx{}, err
	}
	defer done()
	return signed, nil
}

// join assembles the signed transaction from a copy of the unsigned one and checks the result.
func (c *check) join(signatures [][]byte) (chain.SignedTx, error) {
	copied := c.unsigned
	copied.Reservations, copied.Bytes = slices.Clone(c.unsigned.Reservations), bytes.Clone(c.unsigned.Bytes)
	tx, err := c.bounds.Signable.Assemble(copied, signatures)
	if err != nil {
		return chain.SignedTx{}, c.refuse(ReasonAltered, "the adapter cannot join the signatures: %v", err)
	}
	if err := c.signed(tx); err != nil {
		return chain.SignedTx{}, err
	}
	return tx, nil
}
