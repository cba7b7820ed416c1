package chaintest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func testWithdrawalIsExact(t *testing.T, h Harness) {
	d := newHarness(t, h)
	hot := d.hot().Base
	d.fund(hot, d.times(d.unit, 4))
	payment := chain.Payment{Address: d.outsider(), Amount: d.plus(d.unit, bursar.Units(3))}
	hotBefore, before := d.balance(hot), d.balance(payment.Address.Base)

	request := d.request(payment)
	unsigned := d.build(request)
	d.wantFits(request, unsigned)
	tx := d.sign(unsigned)
	d.broadcast(tx)
	d.broadcast(tx)
	h.Node.Mine(t, 1)
	blocks := d.read()
	inclusion, in := d.wantIncluded(blocks, tx.TxID)
	if inclusion.Failed || inclusion.Fee.IsZero() || unsigned.Fee.Less(inclusion.Fee) {
		t.Fatalf("inclusion is %+v, want success and a fee of at most %s", inclusion, unsigned.Fee)
	}
	d.wantAmount("the outsider's gain", d.minus(d.balance(payment.Address.Base), before), payment.Amount)
	d.wantAmount("cost to the hot wallet", d.minus(hotBefore, d.balance(hot)), d.plus(payment.Amount, inclusion.Fee))
	d.wantChange(blocks, tx)
	if ref, err := h.Chain.Find(t.Context(), tx.TxID); err != nil || ref != in {
		t.Fatalf("Find returns the block %v (%v), want %v", ref, err, in)
	}
	d.broadcast(tx) // once more: it is in a block now
	h.Node.Finalize(t)
	d.broadcast(tx)
	d.wantAmount("the outsider's gain in the end", d.minus(d.balance(payment.Address.Base), before), payment.Amount)
}

// wantFits checks an unsigned transaction against its request as a signer does.
func (d *harness) wantFits(request chain.TxRequest, unsigned chain.UnsignedTx) {
	d.t.Helper()
	contents := d.inspect(unsigned.Bytes)
	if contents.Fee != unsigned.Fee || unsigned.Fee.IsZero() || request.MaxFee.Less(unsigned.Fee) || contents.Weight == 0 {
		d.t.Fatalf("fee %s and weight %d in the bytes, fee %s of the unsigned transaction, want equal fees of at most %s",
			contents.Fee, contents.Weight, unsigned.Fee, request.MaxFee)
	}
	if d.capabilities.Lifetime.IsZero() && !sameMembers(contents.Reservations, unsigned.Reservations, strings.Compare) {
		d.t.Fatalf("its bytes use %q, want what it reserves, %q", contents.Reservations, unsigned.Reservations)
	}
	rest := slices.Clone(contents.Payments)
	for _, payment := range request.Payments {
		i := slices.Index(rest, payment)
		if i < 0 {
			d.t.Fatalf("the transaction pays %+v, want among them %+v", contents.Payments, payment)
		}
		rest = slices.Delete(rest, i, i+1)
	}
	for _, change := range rest {
		if d.capabilities.Model != chain.UTXOModel || change.Address.Base != request.Change.Base || change.Contract != "" {
			d.t.Fatalf("the transaction pays %+v, which was not requested", change)
		}
	}
	if d.capabilities.Model == chain.UTXOModel {
		d.wantUTXOs(request, unsigned, contents)
	} else if len(contents.Inputs) != 1 || contents.Inputs[0].Source != request.From || len(unsigned.Reservations) != 1 {
		d.t.Fatalf("inputs are %+v and reservations %q, want one of each from %+v",
			contents.Inputs, unsigned.Reservations, request.From)
	}
}

// wantUTXOs checks that an unsigned transaction uses UTXOs of the request, each once, and that its inputs equal its
// outputs and its fee.
func (d *harness) wantUTXOs(request chain.TxRequest, unsigned chain.UnsignedTx, contents chain.Contents) {
	d.t.Helper()
	var in, out bursar.Amount
	reserved := map[string]bool{}
	var sources, wanted []chain.Source
	for _, resource := range unsigned.Reservations {
		i := slices.IndexFunc(request.UTXOs, func(c chain.UTXO) bool { return c.Outpoint == resource })
		if i < 0 || reserved[resource] {
			d.t.Fatalf("reservation %q is not a UTXO of the request, or is there twice: %q", resource, unsigned.Reservations)
		}
		reserved[resource] = true
		in = d.plus(in, request.UTXOs[i].Amount)
		wanted = append(wanted, request.UTXOs[i].Source)
	}
	for i, input := range contents.Inputs {
		sources = append(sources, input.Source)
		k := slices.IndexFunc(request.UTXOs, func(c chain.UTXO) bool { return c.Outpoint == input.Outpoint })
		if k < 0 || input.Outpoint != unsigned.Reservations[i] || input.Amount != request.UTXOs[k].Amount {
			d.t.Fatalf("input %d is %s of %q, reserved is %q", i, input.Amount, input.Outpoint, unsigned.Reservations[i])
		}
	}
	if len(reserved) == 0 || !slices.Equal(sources, wanted) {
		d.t.Fatalf("reservations %q are signed by %+v, want %+v", unsigned.Reservations, sources, wanted)
	}
	for _, payment := range contents.Payments {
		out = d.plus(out, payment.Amount)
	}
	d.wantAmount("sum of the inputs", in, d.plus(out, unsigned.Fee))
}

// wantChange checks that the change which a transaction names comes back, and nothing else.
func (d *harness) wantChange(blocks []chain.Block, tx chain.SignedTx) {
	d.t.Helper()
	found := transfers(blocks, tx.TxID)
	for _, change := range tx.Change {
		i := slices.IndexFunc(found, func(p placed) bool { return p.UTXO == change.Outpoint })
		if i < 0 || found[i].Amount != change.Amount || found[i].Address.Base != change.Source.Base {
			d.t.Fatalf("change %+v is not among the transfers %+v", change, found)
		}
	}
	if d.capabilities.Model == chain.UTXOModel && len(found) != len(tx.Change) {
		d.t.Fatalf("got %d transfers to us, want %d UTXOs of change", len(found), len(tx.Change))
	}
}

func testSeveralWithdrawalsInOneTransaction(t *testing.T, h Harness) {
	d := newHarness(t, h)
	hot := d.hot().Base
	d.fund(hot, d.times(d.unit, 3), d.times(d.unit, 3))
	payments := []chain.Payment{
		{Address: d.outsider(), Amount: d.unit},
		{Address: d.outsider(), Amount: d.times(d.unit, 2)},
		{Address: d.outsider(), Amount: d.plus(d.unit, bursar.Units(1))},
	}
	payments = payments[:min(len(payments), d.capabilities.MaxPayments)]
	request := d.request(payments...)
	unsigned := d.build(request)
	d.wantFits(request, unsigned)
	tx := d.sign(unsigned)
	d.broadcast(tx)
	h.Node.Mine(t, 1)
	blocks := d.read()
	d.wantIncluded(blocks, tx.TxID)
	d.wantChange(blocks, tx)
	for _, payment := range payments {
		d.wantAmount("an outsider's gain", d.balance(payment.Address.Base), payment.Amount)
	}
}

func testSweepEmptiesAnAddress(t *testing.T, h Harness) {
	d := newHarness(t, h)
	hot, deposit := d.hot(), d.source[d.deposit(0).Base]
	amounts := []bursar.Amount{d.times(d.unit, 2), d.unit}
	d.fund(deposit.Base, amounts...)
	all := d.balance(deposit.Base)
	d.wantAmount("the deposit", all, d.plus(amounts...))

	unsigned, request := d.sweep(deposit, chain.Payment{Address: bursar.Address{Base: hot.Base}, Amount: all})
	for _, payment := range d.inspect(unsigned.Bytes).Payments {
		if payment.Address.Base != hot.Base || payment.Contract != "" {
			t.Fatalf("a sweep pays %+v, want only the hot wallet in the native asset", payment)
		}
	}
	tx := d.sign(unsigned)
	d.broadcast(tx)
	h.Node.Mine(t, 1)
	inclusion, _ := d.wantIncluded(d.read(), tx.TxID)
	d.wantAmount("sum of both balances and the fee",
		d.plus(d.balance(hot.Base), d.balance(deposit.Base), inclusion.Fee), all)
	if left := d.balance(deposit.Base); request.MaxFee.Less(left) {
		t.Fatalf("a sweep of %s leaves %s, want at most the fee limit of %s", all, left, request.MaxFee)
	}
}

// sweep builds the sweep of all that a deposit address holds. An adapter takes the fee out of the amount, or says
// exactly how much is missing; then the request is lowered by that.
func (d *harness) sweep(payer chain.Source, payment chain.Payment) (chain.UnsignedTx, chain.TxRequest) {
	d.t.Helper()
	maxFee := d.times(d.quote(payment), 20)
	request := d.from(payer, chain.TxRequest{Kind: chain.KindSweep, Payments: []chain.Payment{payment}, MaxFee: maxFee})
	_, err := d.chain.Build(d.ctx, request)
	if missing := needsFunds(err); !missing.IsZero() {
		request.Payments[0].Amount = d.minus(payment.Amount, missing)
	}
	return d.build(request), request
}

func testTwoTransactionsInOneBlock(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 2), d.times(d.unit, 2))
	one := chain.Payment{Address: d.outsider(), Amount: d.unit}
	two := chain.Payment{Address: d.outsider(), Amount: d.plus(d.unit, bursar.Units(5))}
	first, firstTx := d.send(d.request(one))
	second, secondTx := d.send(d.request(two))
	if slices.ContainsFunc(first.Reservations, func(c string) bool { return slices.Contains(second.Reservations, c) }) {
		t.Fatalf("two transactions share a reservation: %q and %q", first.Reservations, second.Reservations)
	}
	h.Node.Mine(t, 1)
	blocks := d.read()
	_, in := d.wantIncluded(blocks, firstTx.TxID)
	if _, other := d.wantIncluded(blocks, secondTx.TxID); other != in {
		t.Fatalf("two transactions that waited together are in the blocks %v and %v, want the same", in, other)
	}
	d.wantAmount("the first gain", d.balance(one.Address.Base), one.Amount)
	d.wantAmount("the second gain", d.balance(two.Address.Base), two.Amount)
}

func testUnconfirmedChangeIsSpent(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 5))
	one := chain.Payment{Address: d.outsider(), Amount: d.unit}
	two := chain.Payment{Address: d.outsider(), Amount: d.unit}
	_, parent := d.send(d.request(one))
	if len(parent.Change) != 1 {
		t.Fatalf("the change is %+v, want one output", parent.Change)
	}
	change := parent.Change[0]
	change.Unconfirmed = true
	d.utxos = append(d.utxos, change)
	_, child := d.send(d.request(two))
	h.Node.Mine(t, 1)
	blocks := d.read()
	d.wantIncluded(blocks, parent.TxID)
	d.wantIncluded(blocks, child.TxID)
	d.wantAmount("the child's payment", d.balance(two.Address.Base), two.Amount)
}
