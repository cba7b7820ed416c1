package outgoing_test

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// resolvedBeside is a chain whose every answer may take so long that anything happens meanwhile.
type resolvedBeside struct {
	*sim.Chain
	meanwhile func()
}

func (m resolvedBeside) Head(ctx context.Context) (chain.Head, error) {
	head, err := m.Chain.Head(ctx)
	m.meanwhile()
	return head, err
}

func (m resolvedBeside) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := m.Chain.After(ctx, last, limit, watch)
	m.meanwhile()
	return blocks, err
}

func (m resolvedBeside) Quote(ctx context.Context, p chain.Payment) (bursar.Amount, error) {
	fee, err := m.Chain.Quote(ctx, p)
	m.meanwhile()
	return fee, err
}

func (m resolvedBeside) Build(ctx context.Context, o chain.TxRequest) (chain.UnsignedTx, error) {
	unsigned, err := m.Chain.Build(ctx, o)
	m.meanwhile()
	return unsigned, err
}

func (m resolvedBeside) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	err := m.Chain.Broadcast(ctx, tx)
	m.meanwhile()
	return err
}

func (m resolvedBeside) Expired(ctx context.Context, d chain.UnsignedTx, txID string) (bool, error) {
	expired, err := m.Chain.Expired(ctx, d, txID)
	m.meanwhile()
	return expired, err
}

func (m resolvedBeside) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	held, err := m.Chain.Holdings(ctx, bases, contract, at)
	m.meanwhile()
	return held, err
}

// mood is how a signer behaves for a while.
type mood int

const (
	willing mood = iota
	stingy       // its fee limit is below every fee
	slow         // its limit of an hour is nearly reached
	away         // it does not answer
	moods
)

var errAway = errors.New("the signer does not answer")

// flaky is a signer whose behavior changes. It checks that everything is reserved before it is signed, and remembers
// what it signed.
type flakySigner struct {
	*harness
	mood      mood
	by        map[mood]*signer.Signer
	meanwhile func()
	signed    []string
}

func newFlakySigner(r *harness, meanwhile func()) *flakySigner {
	m := &flakySigner{harness: r, by: map[mood]*signer.Signer{}, meanwhile: meanwhile}
	id, capabilities := r.Chain.Capabilities().ID, r.Chain.Capabilities()
	for mood, policy := range map[mood]signer.Bounds{
		willing: {MaxFee: bursar.Units(1 << 30)},
		stingy:  {MaxFee: bursar.Units(1)},
		slow:    {MaxFee: bursar.Units(1 << 30), Payments: map[string]signer.Limits{"": {Hour: bursar.Units(40_000_000)}}},
	} {
		policy.Capabilities, policy.Signable = capabilities, r.Chain
		var err error
		m.by[mood], err = signer.New(r.Keys.Keys, map[bursar.ChainID]signer.Bounds{id: policy})
		r.Must(err)
	}
	return m
}

func (m *flakySigner) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	m.meanwhile()
	if m.mood == away {
		return chain.SignedTx{}, errAway
	}
	tx, err := m.by[m.mood].Sign(ctx, id, request, unsigned)
	if err == nil {
		m.signed = append(m.signed, tx.TxID)
		if len(m.signed)%5 == 0 {
			if resource := m.unreserved(unsigned); resource != "" && m.holdsLease(request.ID) {
				m.T.Errorf("%s was signed and is not reserved", resource)
			}
		}
	}
	m.meanwhile()
	return tx, err
}

// interruption breaks the connection with the database for good after a number of points: in the middle of a step,
// before any statement, at a commit or after it. The points are the same in every run, unlike those of a context that
// ends.
type interruption struct{ left int }

func (i *interruption) before(context.Context, store.Point, string) error {
	if i.left == 0 {
		return nil
	}
	if i.left > 1 {
		i.left--
		return nil
	}
	return context.Canceled
}
