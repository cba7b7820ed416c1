package chaintest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// testTokenPaymentDelivers checks that the chain proves delivery of a whole token payment. The two tests after it
// check that nothing is delivered where the contract moves nothing and succeeds, and less where it keeps a part.
func testTokenPaymentDelivers(t *testing.T, h Harness) {
	node := h.Node.(Tokens)
	d := newHarness(t, h)
	contract := d.prepareTokens(node)
	payment := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(400)}
	_, tx := d.send(d.request(payment))
	d.wantDelivered(tx, payment)
}

func testSilentTokenDeliversNothing(t *testing.T, h Harness) {
	node := h.Node.(Misbehaving)
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 2))
	start := d.cursor
	payment := chain.Payment{Address: d.outsider(), Contract: node.Silent(t), Amount: bursar.Units(400)}
	_, tx := d.send(d.request(payment))
	d.wantDelivered(tx)
	for _, block := range d.follow(start, 10, NewWatch(d.hot().Base)) {
		for _, external := range block.ExternalSpends {
			if len(external.Payments) != 0 || external.Failed {
				t.Fatalf("a transaction that moved nothing is the external spend %+v, want no payments and no failure", external)
			}
		}
	}
}

func testTaxedTokenDeliversLess(t *testing.T, h Harness) {
	node := h.Node.(Misbehaving)
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 2))
	contract, keeper := node.Taxing(t)
	payment := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(400)}
	_, tx := d.send(d.request(payment))
	less, kept := payment, payment
	less.Amount, kept.Amount, kept.Address = bursar.Units(396), bursar.Units(4), bursar.Address{Base: keeper}
	d.wantDelivered(tx, less, kept)
}

// prepareTokens pays a thousand tokens and gas to the hot wallet.
func (d *harness) prepareTokens(node Tokens) string {
	d.t.Helper()
	contract, hot := d.contract(node), d.hot().Base
	d.node.Pay(d.t, chain.Payment{Address: bursar.Address{Base: hot}, Contract: contract, Amount: bursar.Units(1_000)})
	d.fund(hot, d.times(d.unit, 2))
	return contract
}

func (d *harness) wantDelivered(tx chain.SignedTx, want ...chain.Payment) {
	d.t.Helper()
	in, _ := d.wantIncluded(d.settle(), tx.TxID)
	if in.Failed || in.Delivered == nil || !sameMembers(in.Delivered, want, comparePayments) {
		d.t.Fatalf("inclusion is %+v, want delivered %+v", in, want)
	}
}
