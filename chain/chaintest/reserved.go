package chaintest

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// reserve adds to a request what a transaction takes that was sent and is in no block yet, as the core's books show
// it.
func (d *harness) reserve(request *chain.TxRequest, unsigned chain.UnsignedTx) {
	d.t.Helper()
	taken := append([]chain.Payment{{Amount: unsigned.Fee}}, d.inspect(unsigned.Bytes).Payments...)
	for _, p := range taken {
		sum := d.plus(request.ReservedOf(p.Contract), p.Amount)
		rest := request.Reserved[:0:0]
		for _, r := range request.Reserved {
			if r.Contract != p.Contract {
				rest = append(rest, r)
			}
		}
		request.Reserved = append(rest, chain.Reserve{Contract: p.Contract, Amount: sum})
	}
}

// wantMissing builds a request that cannot be paid and returns how much of an asset is missing.
func (d *harness) wantMissing(request chain.TxRequest, contract string) bursar.Amount {
	d.t.Helper()
	unsigned, err := d.chain.Build(d.ctx, request)
	var needs *chain.NeedsFundsError
	if !errors.As(err, &needs) || needs.Contract != contract || needs.Missing.IsZero() {
		d.t.Fatalf("a request of reserved funds builds with reservations %q and the error %v, want a NeedsFundsError",
			unsigned.Reservations, err)
	}
	return needs.Missing
}

// testTwoPaymentsBeyondTheBalance sends one payment and builds a second before the first is in a block. The node's
// balance still includes what the first one takes.
func testTwoPaymentsBeyondTheBalance(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 3))
	one := chain.Payment{Address: d.outsider(), Amount: d.times(d.unit, 2)}
	two := chain.Payment{Address: d.outsider(), Amount: d.times(d.unit, 2)}
	first, firstTx := d.send(d.request(one))
	request := d.request(two)
	d.reserve(&request, first)
	missing := d.wantMissing(request, "")
	if missing.Less(d.unit) {
		t.Fatalf("two payments of two units out of three miss %s, want between one and two units", missing)
	}
	// On the UTXO model the first one's change is free once it is in a block.
	if d.capabilities.Model == chain.AccountModel {
		if d.times(d.unit, 2).Less(missing) {
			t.Fatalf("two payments of two units out of three miss %s, want between one and two units", missing)
		}
		d.wantJustEnough(request, missing)
	}
	d.fund(d.hot().Base, missing) // which also mines the first payment
	second, secondTx := d.send(d.request(two))
	d.wantNext(first, second)
	d.wantIncluded(d.settle(), secondTx.TxID)
	d.wantAmount("the first gain", d.balance(one.Address.Base), one.Amount)
	d.wantAmount("the second gain", d.balance(two.Address.Base), two.Amount)
	if _, err := h.Chain.Find(t.Context(), firstTx.TxID); err != nil {
		t.Fatalf("the first payment: %v", err)
	}
}

// wantJustEnough lowers a request to the last unit that can be paid, and then asks for one more. The missing amount of
// the native asset may leave out a part of the fee, which cannot be estimated for a payment that cannot be made.
func (d *harness) wantJustEnough(request chain.TxRequest, missing bursar.Amount) {
	d.t.Helper()
	payment := request.Payments[0]
	less := func(by bursar.Amount) error {
		payment.Amount = d.minus(payment.Amount, by)
		request.Payments = []chain.Payment{payment}
		_, err := d.chain.Build(d.ctx, request)
		return err
	}
	err := less(missing)
	if rest := needsFunds(err); !rest.IsZero() && rest.Less(d.quote(request.Payments[0])) {
		err = less(rest)
	}
	d.check(err, "build a payment of the rest")
	payment.Amount = d.plus(payment.Amount, bursar.Units(1))
	request.Payments = []chain.Payment{payment}
	d.wantAmount("missing for one unit more", d.wantMissing(request, payment.Contract), bursar.Units(1))
}

// wantNext checks, on a chain with nonces, that no nonce lies between those of two unsigned transactions.
func (d *harness) wantNext(first, second chain.UnsignedTx) {
	d.t.Helper()
	base, before, _ := strings.Cut(first.Reservations[0], "/")
	if !d.numbers {
		return
	}
	nonce, err := strconv.ParseUint(before, 10, 64)
	d.check(err, "nonce of the reservation %q", first.Reservations[0])
	if want := base + "/" + strconv.FormatUint(nonce+1, 10); second.Reservations[0] != want {
		d.t.Fatalf("the reservation after %q is %q, want the next nonce", first.Reservations, second.Reservations)
	}
}

// testTwoTokenPaymentsBeyondTheBalance is the same for tokens, and for the gas that they need.
func testTwoTokenPaymentsBeyondTheBalance(t *testing.T, h Harness) {
	node := h.Node.(Tokens)
	d := newHarness(t, h)
	contract, hot := d.contract(node), d.hot().Base
	h.Node.Pay(t, chain.Payment{Address: bursar.Address{Base: hot}, Contract: contract, Amount: bursar.Units(1_000)})
	d.fund(hot, d.unit)
	one := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(600)}
	first, _ := d.send(d.request(one))
	two := chain.Payment{Address: d.outsider(), Contract: contract, Amount: bursar.Units(600)}
	request := d.request(two)
	d.reserve(&request, first)
	d.wantAmount("missing tokens", d.wantMissing(request, contract), bursar.Units(200))
	d.wantJustEnough(request, bursar.Units(200))

	request.Payments[0].Amount = bursar.Units(400)
	request.Reserved = []chain.Reserve{{Contract: contract, Amount: bursar.Units(600)}, {Amount: d.balance(hot)}}
	second := d.wantMissing(request, "")
	request.Reserved[1].Amount = d.minus(d.balance(hot), second)
	unsigned, err := h.Chain.Build(t.Context(), request)
	if err != nil || unsigned.Fee != second {
		t.Fatalf("with %s left for the fee it builds with a fee of %s and the error %v", second, unsigned.Fee, err)
	}
}

// testSweepLeavesWhatIsReserved sweeps an address of which another transaction takes a part.
func testSweepLeavesWhatIsReserved(t *testing.T, h Harness) {
	d := newHarness(t, h)
	deposit := d.source[d.deposit(0).Base]
	d.fund(deposit.Base, d.times(d.unit, 3))
	all := chain.Payment{Address: bursar.Address{Base: d.hot().Base}, Amount: d.times(d.unit, 3)}
	request := d.from(deposit, chain.TxRequest{Kind: chain.KindSweep, Payments: []chain.Payment{all},
		MaxFee: d.times(d.quote(all), 20)})
	request.Reserved = []chain.Reserve{{Amount: d.times(d.unit, 2)}}
	unsigned, err := h.Chain.Build(t.Context(), request)
	d.check(err, "build a sweep beside two reserved units")
	if takes := d.plus(d.inspect(unsigned.Bytes).Payments[0].Amount, unsigned.Fee); d.unit.Less(takes) {
		t.Fatalf("a sweep takes %s, want at most the one unit that is not reserved", takes)
	}
	request.Reserved[0].Amount = d.times(d.unit, 3)
	if missing := d.wantMissing(request, ""); missing.IsZero() {
		t.Fatal("nothing is missing for a sweep of reserved funds")
	}
}
