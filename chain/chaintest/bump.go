package chaintest

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func testBumpReplaces(t *testing.T, h Harness) {
	d := newHarness(t, h)
	if d.capabilities.BumpAfter == 0 {
		return
	}
	d.fund(d.hot().Base, d.times(d.unit, 2), d.times(d.unit, 2), d.times(d.unit, 2))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	order := d.order(payment)
	cheap, cheapTx := d.send(order)
	order.Replaces = &cheap
	slices.Reverse(order.UTXOs) // whatever would be taken first now
	dear := d.build(order)
	d.wantFits(order, dear)
	if !cheap.Fee.Less(dear.Fee) {
		t.Fatalf("a fee of %s does not outbid %s", dear.Fee, cheap.Fee)
	}
	if !slices.Equal(slices.Sorted(slices.Values(cheap.Reservations)), slices.Sorted(slices.Values(dear.Reservations))) {
		t.Fatalf("claims %q do not replace %q", dear.Reservations, cheap.Reservations)
	}
	dearTx := d.sign(dear)
	d.broadcast(dearTx)
	h.Node.Mine(t, 1)
	blocks := d.read()
	d.wantIncluded(blocks, dearTx.TxID)
	d.wantAbsent(cheapTx.TxID)
	h.Node.Finalize(t)
	d.wantAbsent(cheapTx.TxID)
	if err := h.Chain.Broadcast(t.Context(), cheapTx); err == nil {
		t.Fatal("a transaction whose claims another one has used was taken")
	}
	d.wantAmount("the outsider's gain", d.balance(payment.Address.Base), payment.Amount)
}

func testBumpRespectsTheLimit(t *testing.T, h Harness) {
	d := newHarness(t, h)
	if d.capabilities.BumpAfter == 0 {
		return
	}
	d.fund(d.hot().Base, d.times(d.unit, 4))
	order := d.order(chain.Payment{Address: d.outsider(), Amount: d.unit})
	cheap := d.build(order)
	order.Replaces, order.MaxFee = &cheap, cheap.Fee
	if dear, err := h.Chain.Build(t.Context(), order); err == nil {
		t.Fatalf("a fee of %s was outbid by %s though no more was allowed", cheap.Fee, dear.Fee)
	}
}

// testBumpWithoutBytes replaces a transaction of which only what it used up and cost is known, as of one that was
// adopted from a block, and which no node has any more.
func testBumpWithoutBytes(t *testing.T, h Harness) {
	d := newHarness(t, h)
	if d.capabilities.BumpAfter == 0 {
		return
	}
	d.fund(d.hot().Base, d.times(d.unit, 2), d.times(d.unit, 2), d.times(d.unit, 2))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	order := d.order(payment)
	gone := d.build(order)
	order.Replaces = &chain.UnsignedTx{Reservations: gone.Reservations, Fee: gone.Fee}
	slices.Reverse(order.UTXOs)
	again := d.build(order)
	d.wantFits(order, again)
	if !slices.Equal(slices.Sorted(slices.Values(gone.Reservations)), slices.Sorted(slices.Values(again.Reservations))) {
		t.Fatalf("claims %q do not replace %q", again.Reservations, gone.Reservations)
	}
	tx := d.sign(again)
	d.broadcast(tx)
	h.Node.Mine(t, 1)
	d.wantIncluded(d.read(), tx.TxID)
	d.wantAmount("the outsider's gain", d.balance(payment.Address.Base), payment.Amount)
	order.Replaces = &chain.UnsignedTx{Fee: gone.Fee}
	if unsigned, err := h.Chain.Build(t.Context(), order); err == nil {
		t.Fatalf("a draft that uses up nothing was outbid with claims %q", unsigned.Reservations)
	}
}

// testUsedNonceIsExternal drafts by books that know nothing of a transaction that was made with our key.
func testUsedNonceIsExternal(t *testing.T, h Harness) {
	d := newHarness(t, h)
	if d.capabilities.Model != chain.AccountModel {
		return
	}
	d.fund(d.hot().Base, d.times(d.unit, 4))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	first := d.build(d.order(payment))
	next, numbered := d.nonces[d.hot().Base]
	if !numbered {
		return // the claim is no number, so the books cannot be behind
	}
	d.broadcast(d.sign(first))
	d.settle()
	order, behind := d.order(payment), next-1
	order.Nonce = &behind
	_, err := h.Chain.Build(t.Context(), order)
	wantError(t, err, chain.ErrExternalNonce, "draft with a used nonce")
}

// testExpiry outlives an unsigned transaction that was never sent: one that expires is proven dead, one that does not
// never is.
func testExpiry(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 4))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	unsigned := d.build(d.order(payment))
	tx := d.sign(unsigned)
	d.wantExpired(unsigned, tx, false)
	if expires := unsigned.Expires != 0; expires == d.capabilities.Lifetime.IsZero() {
		t.Fatalf("a draft expires at %d, and the lifetime of transactions is %+v", unsigned.Expires, d.capabilities.Lifetime)
	}
	if unsigned.Expires == 0 {
		d.settle()
		d.wantExpired(unsigned, tx, false)
		return
	}
	d.outlive(unsigned)
	d.wantExpired(unsigned, tx, true)
	if err := h.Chain.Broadcast(t.Context(), tx); err == nil {
		t.Fatal("an expired transaction was taken")
	}
	d.settle()
	d.wantAbsent(tx.TxID)
	d.wantAmount("the outsider's gain", d.balance(payment.Address.Base), bursar.Amount{})
}

func (d *harness) wantExpired(unsigned chain.UnsignedTx, tx chain.SignedTx, want bool) {
	d.t.Helper()
	got, err := d.chain.Expired(d.ctx, unsigned, tx.TxID)
	d.check(err, "expired")
	if got != want {
		d.t.Fatalf("expired is %v, want %v (expires at %d, head %+v)", got, want, unsigned.Expires, d.head())
	}
}

func (d *harness) outlive(unsigned chain.UnsignedTx) {
	d.t.Helper()
	if node, able := d.node.(Expiring); able {
		node.Outlive(d.t, unsigned)
		return
	}
	for mined := 0; d.head().Final.Height <= unsigned.Expires; mined += 10 {
		if mined > maxRead {
			d.t.Fatalf("the final height does not pass %d", unsigned.Expires)
		}
		d.node.Mine(d.t, 10)
	}
}
