package chaintest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// testTokenPaymentDelivers checks what the chain proves of token payments: all of one, nothing of one whose contract
// moves nothing and succeeds, and less of one that keeps a part.
func testTokenPaymentDelivers(t *testing.T, h Harness) {
	node, able := h.Node.(Tokens)
	if !able {
		return
	}
	d := newHarness(t, h)
	contract := d.prepareTokens(node)
	payment := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(400)}
	_, tx := d.send(d.order(payment))
	d.wantDelivered(tx, payment)
}

func testSilentTokenDeliversNothing(t *testing.T, h Harness) {
	node, able := h.Node.(Misbehaving)
	if !able {
		return
	}
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 2))
	start := d.cursor
	payment := chain.Payment{Address: d.outsider(), Contract: node.Silent(t), Amount: bursar.Units(400)}
	_, tx := d.send(d.order(payment))
	d.wantDelivered(tx)
	for _, block := range d.follow(start, 10, NewWatch(d.hot().Base)) {
		for _, external := range block.ExternalSpends {
			if len(external.Payments) != 0 || external.Failed {
				t.Fatalf("what moved nothing is the external spend %+v", external)
			}
		}
	}
}

func testTaxedTokenDeliversLess(t *testing.T, h Harness) {
	node, able := h.Node.(Misbehaving)
	if !able {
		return
	}
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 2))
	contract, keeper := node.Taxing(t)
	payment := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(400)}
	_, tx := d.send(d.order(payment))
	less, kept := payment, payment
	less.Amount, kept.Amount, kept.Address = bursar.Units(396), bursar.Units(4), bursar.Address{Base: keeper}
	d.wantDelivered(tx, less, kept)
}

// prepareTokens gives the hot address a thousand tokens and gas.
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
