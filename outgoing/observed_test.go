package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// onLasting runs a test on the models whose transactions do not expire.
func onLasting(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Parallel()
	for name, config := range models {
		if config.Expiry == 0 {
			t.Run(name, func(t *testing.T) { each(t, config, test) })
		}
	}
}

// waitedFor has blocks pass until another version of a lost adopted transaction may be made in the next step.
func (r *harness) waitedFor(lost bursar.ID) {
	r.t.Helper()
	for r.height() < r.spendNow(lost).SentAt+r.chain.Capabilities().BumpAfter {
		r.chain.Mine(1)
		r.catchUp()
	}
}

func (r *harness) height() uint64 {
	_, latest := r.chain.Heights()
	return latest
}

// noted checks what the error of an outgoing transaction says.
func (r *harness) noted(id bursar.ID, words ...string) {
	r.t.Helper()
	for _, w := range words {
		if got := r.spendNow(id).Error; !strings.Contains(got, w) {
			r.t.Errorf("its error is %q, and not that %s", got, w)
		}
	}
}

// observed is a signer that is watched while it signs one outgoing transaction, and that fails to sign it while err is
// not nil.
type observed struct {
	outgoing.Signer
	outgoingID bursar.ID
	before     func(order chain.TxRequest, unsigned chain.UnsignedTx)
	err        error
	asked      int
	signed     string // the last transaction
}

func (o *observed) Sign(
	ctx context.Context, id bursar.ChainID, order chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if order.ID != o.outgoingID {
		return o.Signer.Sign(ctx, id, order, unsigned)
	}
	o.asked++
	if o.before != nil {
		o.before(order, unsigned)
	}
	if o.err != nil {
		return chain.SignedTx{}, o.err
	}
	tx, err := o.Signer.Sign(ctx, id, order, unsigned)
	o.signed = tx.TxID
	return tx, err
}

// interrupted is a chain on which something happens as soon as another version of an outgoing transaction is drafted.
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

// tally is a keeper of what is signed that writes down what is said to it.
type tally struct {
	signed, dropped []bursar.ID
	err             error
}

func (n *tally) Sign(_ context.Context, _ store.Lease, id bursar.ID) error {
	n.signed = append(n.signed, id)
	return n.err
}

func (n *tally) Unsigned(_ bursar.ChainID, id bursar.ID) { n.dropped = append(n.dropped, id) }

func (n *tally) Signed(bursar.ChainID, bursar.ID) bool { return false }

func (n *tally) PaidBy(context.Context, *store.Tx, bursar.OutgoingTx, []bursar.ID) (bursar.ID, error) {
	return bursar.ID{}, nil
}

// reservedBy checks that an outgoing transaction has reserved UTXOs or nonces.
func (r *harness) reservedBy(id bursar.ID, resources []string) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		owners, err := tx.Reservations().Owners(ctx, r.chain.Capabilities().ID, resources)
		for _, resource := range resources {
			if owners[resource] != id {
				r.t.Errorf("%s is reserved by %s, and not by %s", resource, owners[resource], id)
			}
		}
		return err
	})
}
