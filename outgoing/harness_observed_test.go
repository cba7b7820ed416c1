package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// onLasting runs a test on the models whose transactions do not expire.
func onLasting(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Parallel()
	for name, config := range bursartest.Models {
		if config.Expiry == 0 {
			t.Run(name, func(t *testing.T) { each(t, config, test) })
		}
	}
}

// waitedFor lets blocks pass until another version of a lost adopted transaction may be built in the next step.
func (r *harness) waitedFor(lost bursar.ID) {
	r.T.Helper()
	for r.height() < r.spendNow(lost).SentAt+r.Chain.Capabilities().BumpAfter {
		r.Chain.Mine(1)
		r.CatchUp()
	}
}

func (r *harness) height() uint64 {
	_, latest := r.Chain.Heights()
	return latest
}

// noted checks the error of an outgoing transaction.
func (r *harness) noted(id bursar.ID, words ...string) {
	r.T.Helper()
	for _, w := range words {
		if got := r.spendNow(id).Error; !strings.Contains(got, w) {
			r.T.Errorf("its error is %q, and not that %s", got, w)
		}
	}
}

// observed is a signer that is observed while it signs one outgoing transaction, and that fails to sign it while err is
// not nil.
type observed struct {
	outgoing.Signer
	outgoingID bursar.ID
	before     func(request chain.TxRequest, unsigned chain.UnsignedTx)
	err        error
	asked      int
	signed     string // the last transaction
}

func (o *observed) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if request.ID != o.outgoingID {
		return o.Signer.Sign(ctx, id, request, unsigned)
	}
	o.asked++
	if o.before != nil {
		o.before(request, unsigned)
	}
	if o.err != nil {
		return chain.SignedTx{}, o.err
	}
	tx, err := o.Signer.Sign(ctx, id, request, unsigned)
	o.signed = tx.TxID
	return tx, err
}

// interrupted is a chain on which something happens as soon as another version of an outgoing transaction is built.
type interrupted struct {
	*sim.Chain
	outgoingID bursar.ID
	by         func()
	sent       []string
}

func (c *interrupted) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	c.sent = append(c.sent, tx.TxID)
	return c.Chain.Broadcast(ctx, tx)
}

func (c *interrupted) Build(ctx context.Context, o chain.TxRequest) (chain.UnsignedTx, error) {
	unsigned, err := c.Chain.Build(ctx, o)
	if o.ID == c.outgoingID && c.by != nil {
		c.by()
	}
	return unsigned, err
}

// tally is a Marks that records its calls.
type tally struct {
	signed, dropped []bursar.ID
	err             error
	busy            bool // the journal is half full
}

func (n *tally) Sign(_ context.Context, _ store.Lease, id bursar.ID) (unsigned func(), err error) {
	n.signed = append(n.signed, id)
	return func() { n.dropped = append(n.dropped, id) }, n.err
}

func (n *tally) Busy() bool { return n.busy }

func (n *tally) NeverSigned(_ bursar.ChainID, id bursar.ID) { n.dropped = append(n.dropped, id) }

func (n *tally) Signed(bursar.ChainID, bursar.ID) bool { return false }

func (*tally) KeepUnsigned(context.Context, bursar.ChainID) error { return nil }

func (*tally) Used(context.Context, *store.Tx, bursar.OutgoingTx, []string) ([]chain.UnsignedTx, error) {
	return nil, nil
}

func (n *tally) PaidBy(context.Context, *store.Tx, bursar.OutgoingTx, []bursar.ID) (bursar.ID, error) {
	return bursar.ID{}, nil
}

// reservedBy checks that an outgoing transaction has reserved UTXOs or nonces.
func (r *harness) reservedBy(id bursar.ID, resources []string) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		owners, err := tx.Reservations().Owners(ctx, r.Chain.Capabilities().ID, resources)
		for _, resource := range resources {
			if owners[resource] != id {
				r.T.Errorf("%s is reserved by %s, and not by %s", resource, owners[resource], id)
			}
		}
		return err
	})
}
