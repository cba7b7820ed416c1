package chaintest

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// reserve adds to an order what a transaction takes that is sent and in no block, as the core's books say it.
func (d *harness) reserve(order *chain.TxRequest, unsigned chain.UnsignedTx) {
	d.t.Helper()
	taken := append([]chain.Payment{{Amount: unsigned.Fee}}, d.inspect(unsigned.Bytes).Payments...)
	for _, p := range taken {
		sum := d.plus(order.ReservedOf(p.Contract), p.Amount)
		rest := order.Reserved[:0:0]
		for _, r := range order.Reserved {
			if r.Contract != p.Contract {
				rest = append(rest, r)
			}
		}
		order.Reserved = append(rest, chain.Reserve{Contract: p.Contract, Amount: sum})
	}
}

// wantMissing drafts an order that cannot be paid and returns how much of an asset it says to lack.
func (d *harness) wantMissing(order chain.TxRequest, contract string) bursar.Amount {
	d.t.Helper()
	unsigned, err := d.chain.Build(d.ctx, order)
	var needs *chain.NeedsFundsError
	if !errors.As(err, &needs) || needs.Contract != contract || needs.Missing.IsZero() {
		d.t.Fatalf("an order of what is spoken for drafts as %q with %v", unsigned.Reservations, err)
	}
	return needs.Missing
}

// testTwoPaymentsOfMoreThanThereIs sends one payment and drafts a second before the first is in a block. The node's
// balance still shows what the first one takes.
func testTwoPaymentsOfMoreThanThereIs(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 3))
	one := chain.Payment{Address: d.outsider(), Amount: d.times(d.unit, 2)}
	two := chain.Payment{Address: d.outsider(), Amount: d.times(d.unit, 2)}
	first, firstTx := d.send(d.order(one))
	order := d.order(two)
	d.reserve(&order, first)
	missing := d.wantMissing(order, "")
	if missing.Less(d.unit) {
		t.Fatalf("two payments of two units out of three lack %s", missing)
	}
	if d.capabilities.Model == chain.AccountModel { // elsewhere the first one's change is free once it is in a block
		if d.times(d.unit, 2).Less(missing) {
			t.Fatalf("two payments of two units out of three lack %s", missing)
		}
		d.wantJustEnough(order, missing)
	}
	d.fund(d.hot().Base, missing) // and with it the first payment is in a block
	second, secondTx := d.send(d.order(two))
	d.wantNext(first, second)
	d.wantIncluded(d.settle(), secondTx.TxID)
	d.wantAmount("the first gain", d.balance(one.Address.Base), one.Amount)
	d.wantAmount("the second gain", d.balance(two.Address.Base), two.Amount)
	if _, err := h.Chain.Find(t.Context(), firstTx.TxID); err != nil {
		t.Fatalf("the first payment: %v", err)
	}
}

// wantJustEnough lowers an order to the last unit that can be paid, and asks for one more. What is missing of the
// native asset may leave out a part of the fee, which cannot be estimated of a payment that cannot be made.
func (d *harness) wantJustEnough(order chain.TxRequest, missing bursar.Amount) {
	d.t.Helper()
	payment := order.Payments[0]
	less := func(by bursar.Amount) error {
		payment.Amount = d.minus(payment.Amount, by)
		order.Payments = []chain.Payment{payment}
		_, err := d.chain.Build(d.ctx, order)
		return err
	}
	err := less(missing)
	if rest := needsFunds(err); !rest.IsZero() && rest.Less(d.quote(order.Payments[0])) {
		err = less(rest)
	}
	d.check(err, "draft what is left")
	payment.Amount = d.plus(payment.Amount, bursar.Units(1))
	order.Payments = []chain.Payment{payment}
	d.wantAmount("what one unit more lacks", d.wantMissing(order, payment.Contract), bursar.Units(1))
}

// wantNext checks that no nonce was used between two drafts.
func (d *harness) wantNext(first, second chain.UnsignedTx) {
	d.t.Helper()
	base, before, _ := strings.Cut(first.Reservations[0], "/")
	nonce, err := strconv.ParseUint(before, 10, 64)
	if err != nil || d.capabilities.Model != chain.AccountModel {
		return // the claim is no number
	}
	if want := base + "/" + strconv.FormatUint(nonce+1, 10); second.Reservations[0] != want {
		d.t.Fatalf("after %q comes %q", first.Reservations, second.Reservations)
	}
}

// testTwoTokenPaymentsOfMoreThanThereIs is the same for tokens, and for the gas that they need.
func testTwoTokenPaymentsOfMoreThanThereIs(t *testing.T, h Harness) {
	node, able := h.Node.(Tokens)
	if !able {
		return
	}
	d := newHarness(t, h)
	contract, hot := d.contract(node), d.hot().Base
	h.Node.Pay(t, chain.Payment{Address: bursar.Address{Base: hot}, Contract: contract, Amount: bursar.Units(1_000)})
	d.fund(hot, d.unit)
	one := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(600)}
	first, _ := d.send(d.order(one))
	two := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(600)}
	order := d.order(two)
	d.reserve(&order, first)
	d.wantAmount("missing tokens", d.wantMissing(order, contract), bursar.Units(200))
	d.wantJustEnough(order, bursar.Units(200))

	order.Payments[0].Amount = bursar.Units(400)
	order.Reserved = []chain.Reserve{{Contract: contract, Amount: bursar.Units(600)}, {Amount: d.balance(hot)}}
	second := d.wantMissing(order, "")
	order.Reserved[1].Amount = d.minus(d.balance(hot), second)
	unsigned, err := h.Chain.Build(t.Context(), order)
	if err != nil || unsigned.Fee != second {
		t.Fatalf("with %s left for the fee it drafts at %s: %v", second, unsigned.Fee, err)
	}
}

// testSweepLeavesWhatIsSpokenFor collects an address of which another transaction takes a part.
func testSweepLeavesWhatIsSpokenFor(t *testing.T, h Harness) {
	d := newHarness(t, h)
	if d.capabilities.SharedAddress || d.capabilities.Model == chain.UTXOModel {
		return // there is nothing to collect, or UTXOs are used once anyway
	}
	deposit := d.source[d.deposit(0).Base]
	d.fund(deposit.Base, d.times(d.unit, 3))
	all := chain.Payment{Address: bursar.Address{Base: d.hot().Base}, Amount: d.times(d.unit, 3)}
	order := d.from(deposit, chain.TxRequest{Kind: chain.KindSweep, Payments: []chain.Payment{all},
		MaxFee: d.times(d.quote(all), 20)})
	order.Reserved = []chain.Reserve{{Amount: d.times(d.unit, 2)}}
	unsigned, err := h.Chain.Build(t.Context(), order)
	d.check(err, "draft a sweep beside two units that are spoken for")
	if takes := d.plus(d.inspect(unsigned.Bytes).Payments[0].Amount, unsigned.Fee); d.unit.Less(takes) {
		t.Fatalf("a sweep takes %s where one unit is free", takes)
	}
	order.Reserved[0].Amount = d.times(d.unit, 3)
	if missing := d.wantMissing(order, ""); missing.IsZero() {
		t.Fatal("nothing is missing")
	}
}
