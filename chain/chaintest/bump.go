package chaintest

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func testFeeBumpReplaces(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 2), d.times(d.unit, 2), d.times(d.unit, 2))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	request := d.request(payment)
	cheap, cheapTx := d.send(request)
	request.Replaces = &cheap
	slices.Reverse(request.UTXOs) // so that the first choice is another UTXO
	bumped := d.build(request)
	d.wantFits(request, bumped)
	if !cheap.Fee.Less(bumped.Fee) {
		t.Fatalf("the bumped fee is %s, want more than %s", bumped.Fee, cheap.Fee)
	}
	if !slices.Equal(slices.Sorted(slices.Values(cheap.Reservations)), slices.Sorted(slices.Values(bumped.Reservations))) {
		t.Fatalf("the replacement reserves %q, want %q", bumped.Reservations, cheap.Reservations)
	}
	bumpedTx := d.sign(bumped)
	d.broadcast(bumpedTx)
	h.Node.Mine(t, 1)
	blocks := d.read()
	d.wantIncluded(blocks, bumpedTx.TxID)
	d.wantAbsent(cheapTx.TxID)
	h.Node.Finalize(t)
	d.wantAbsent(cheapTx.TxID)
	if err := h.Chain.Broadcast(t.Context(), cheapTx); err == nil {
		t.Fatal("a transaction was accepted whose inputs or nonce another one has used")
	}
	d.wantAmount("the outsider's gain", d.balance(payment.Address.Base), payment.Amount)
}

func testFeeBumpRespectsTheLimit(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 4))
	request := d.request(chain.Payment{Address: d.outsider(), Amount: d.unit})
	cheap := d.build(request)
	request.Replaces, request.MaxFee = &cheap, cheap.Fee
	if bumped, err := h.Chain.Build(t.Context(), request); err == nil {
		t.Fatalf("a fee of %s was bumped to %s, want an error: the limit is the first fee", cheap.Fee, bumped.Fee)
	}
}

// testFeeBumpWithoutBytes replaces a transaction of which only the reservations and the fee are known, as of one that
// was adopted from a block, and which no node has any more.
func testFeeBumpWithoutBytes(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 2), d.times(d.unit, 2), d.times(d.unit, 2))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	request := d.request(payment)
	gone := d.build(request)
	request.Replaces = &chain.UnsignedTx{Reservations: gone.Reservations, Fee: gone.Fee}
	slices.Reverse(request.UTXOs)
	again := d.build(request)
	d.wantFits(request, again)
	if !slices.Equal(slices.Sorted(slices.Values(gone.Reservations)), slices.Sorted(slices.Values(again.Reservations))) {
		t.Fatalf("the replacement reserves %q, want %q", again.Reservations, gone.Reservations)
	}
	tx := d.sign(again)
	d.broadcast(tx)
	h.Node.Mine(t, 1)
	d.wantIncluded(d.read(), tx.TxID)
	d.wantAmount("the outsider's gain", d.balance(payment.Address.Base), payment.Amount)
	request.Replaces = &chain.UnsignedTx{Fee: gone.Fee}
	if unsigned, err := h.Chain.Build(t.Context(), request); err == nil {
		t.Fatalf("a transaction without reservations was replaced by one with the reservations %q, want an error",
			unsigned.Reservations)
	}
}

// testUsedNonceIsExternal builds with books that do not know a transaction that was made with our key.
func testUsedNonceIsExternal(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 4))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	first := d.build(d.request(payment))
	next := d.nonces[d.hot().Base]
	d.broadcast(d.sign(first))
	d.settle()
	request, behind := d.request(payment), next-1
	request.Nonce = &behind
	_, err := h.Chain.Build(t.Context(), request)
	wantError(t, err, chain.ErrExternalNonce, "build with a used nonce")
}

// testExpiry outlives a transaction that was never sent: one that can expire is then proven expired, any other never
// is.
func testExpiry(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 4))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	unsigned := d.build(d.request(payment))
	tx := d.sign(unsigned)
	d.wantExpired(unsigned, tx, false)
	if expires := unsigned.Expires != 0; expires == d.capabilities.Lifetime.IsZero() {
		t.Fatalf("a transaction expires at %d, and the chain's lifetime of transactions is %+v",
			unsigned.Expires, d.capabilities.Lifetime)
	}
	if unsigned.Expires == 0 {
		d.settle()
		d.wantExpired(unsigned, tx, false)
		return
	}
	d.outlive(unsigned)
	d.wantExpired(unsigned, tx, true)
	if err := h.Chain.Broadcast(t.Context(), tx); err == nil {
		t.Fatal("an expired transaction was accepted")
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
			d.t.Fatalf("the final height did not pass %d", unsigned.Expires)
		}
		d.node.Mine(d.t, 10)
	}
}
