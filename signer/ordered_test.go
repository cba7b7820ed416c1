package signer

import (
	"bytes"
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/signer/memory"
)

// clients gives the account of all orders of a policy fixture a client's key, and returns what signs with it.
func (d *policyFixture) clients() func(text string) string {
	d.t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	public, err := orderkey.New(private.Public())
	d.must(err)
	d.must(d.file.Do(d.t.Context(), func(tx memory.Tx) error {
		return tx.AddOrderKey(d.t.Context(), memory.OrderKey{Account: bursar.ID{9}, ID: public.ID(), Public: public.String(),
			Name: "shop", From: d.clock.Now()})
	}))
	return func(text string) string {
		s := orderkey.Signature{KeyID: public.ID()}
		copy(s.Bytes[:], ed25519.Sign(private, []byte(text)))
		return s.String()
	}
}

// brief is a payment that persons approved, by an order that its client signed for an hour.
func (d *policyFixture) brief(n byte, signs func(text string) string) request {
	d.t.Helper()
	r := d.ordered(n, 11)
	o := d.orderOf(n, r.chain, r.contents.Payments[0])
	o.Expires = o.Created.Add(time.Hour)
	r.unsigned.Orders = []chain.Order{d.approved(o, ann, bob)}
	r.unsigned.Orders[0].Signature = signs(o.Text())
	return r
}

// A transaction that was sent and is too cheap to be included must be replaced, though the order that it pays ends: all
// that use a later nonce wait for it, and the client chose when the order ends.
func TestAReplacementIsSignedAfterTheEndOfItsOrder(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	r := d.brief(1, d.clients())
	d.wantReason(r, "")
	d.clock.Advance(2 * time.Hour)
	beside := r
	beside.contents.Reservations = []string{"hot/7"}
	d.wantReason(beside, ReasonOrderOnce, "in another transaction")
	dearer := r
	dearer.contents.Fee, dearer.unsigned.Fee = bursar.Units(20), bursar.Units(20)
	d.wantReason(dearer, "")
}

// order-fresh has the service refund the customer, so it is never the reason where a transaction was signed that may be
// included: after the state began again the order is still one that was signed.
func TestAnOrderThatWasSignedIsNeverOnlyLate(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	signs := d.clients()
	r := d.brief(1, signs)
	d.wantReason(r, "")
	never := d.brief(2, signs)
	d.close()
	d.must(memory.BeginAgain(t.Context(), d.path, memory.Init{Fingerprint: "seed", At: d.clock.Now()}, "op", "test"))
	d.harness.signer = nil
	file, err := memory.Open(t.Context(), d.path, "seed")
	d.must(err)
	t.Cleanup(func() { file.Close() })
	d.restart(file)
	d.file = file
	d.clock.Advance(2 * time.Hour)
	dearer := r
	dearer.contents.Fee, dearer.unsigned.Fee = bursar.Units(20), bursar.Units(20)
	d.wantReason(dearer, ReasonOrderOnce, "was signed before")
	d.wantReason(never, ReasonOrderFresh, "this one is "+d.instance())
}

// A transaction that excludes each one before need not belong to the flow in which the order was approved.
func TestAnOrderOfTwoFlowsIsNeverOnlyLate(t *testing.T) {
	t.Parallel()
	d := newPolicyFixture(t, nil)
	signs := d.clients()
	d.wantReason(d.brief(1, signs), "") // the flow that both share: hot/1
	r := d.brief(2, signs)
	d.wantReason(r, "")
	d.clock.Advance(2 * time.Hour)
	both := r
	both.contents.Reservations = []string{"hot/1", "hot/2"}
	d.wantReason(both, ReasonOrderOnce, "was signed before")
}
