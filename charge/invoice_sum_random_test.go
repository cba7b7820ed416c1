package charge_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// sums is a random history of charges that add up, on chains with reorganisations, with their clients at work.
type sums struct {
	*harness
	random  *rand.Rand
	charges []bursar.InvoiceDetail
	sent    []string
	dropped []string
}

func (h *sums) act() {
	bitcoin := h.chains[bursar.Bitcoin]
	switch n := h.random.IntN(22); {
	case n < 3:
		h.charges = append(h.charges, h.sum(func(t *charge.Terms) {
			t.Life = time.Duration(1+h.random.IntN(16)) * time.Minute
			t.Late = []bursar.Handling{bursar.HandlingReview, bursar.HandlingAccept}[h.random.IntN(2)]
			t.Tolerance.Under = charge.Tolerance{Amount: "0.0001"}
			every(t)
		}))
	case len(h.charges) == 0:
	case n < 9:
		units := []uint64{30_000, 60_000, 90_000, 100_000, 150_000}[h.random.IntN(5)]
		h.sent = append(h.sent, h.send(h.recent(), "BTC", "BTC", units))
	case n < 10:
		_, _ = h.transferOf(h.recent())
	case n < 12 && h.height(bursar.Bitcoin) > 6:
		h.drop(1 + h.random.IntN(5))
	case n < 13:
		bitcoin.Restore(h.dropped...)
		h.dropped = nil
	case n < 14:
		_, _ = h.Charges.Cancel(ctx, h.change(h.recent()))
	case n < 16:
		h.decide(h.recent())
	case n < 17:
		_, err := h.Charges.Turn(ctx)
		h.must(err)
	default:
		h.mine(bursar.Bitcoin, 1)
	}
}

func (h *sums) transferOf(d bursar.InvoiceDetail) (bursar.Withdrawal, error) {
	return h.order(d.Options[0].Address, 20_000)
}

// recent returns one of the newest charges.
func (h *sums) recent() bursar.InvoiceDetail {
	return h.charges[len(h.charges)-1-h.random.IntN(min(len(h.charges), 4))]
}

// decide resolves or refunds a payment at random; a refusal is as good.
func (h *sums) decide(d bursar.InvoiceDetail) {
	payments := h.view(d).Payments
	if len(payments) == 0 {
		return
	}
	n := h.random.IntN(len(payments))
	var err error
	switch h.random.IntN(3) {
	case 0:
		err = h.resolve(d, n, bursar.ResolveAccept)
	case 1:
		err = h.resolve(d, n, bursar.ResolveCredit)
	default:
		_, err = h.refund(d, n, nil)
	}
	if err != nil && refusal(err) == nil {
		h.t.Fatal(err)
	}
}

func (h *sums) drop(depth int) {
	var drop []string
	for _, id := range h.sent {
		ref, err := h.chains[bursar.Bitcoin].Find(ctx, id)
		if err == nil && ref.Height+uint64(depth) > h.height(bursar.Bitcoin) && h.random.IntN(2) == 0 {
			drop = append(drop, id)
		}
	}
	h.reorg(bursar.Bitcoin, depth, drop...)
	h.dropped = append(h.dropped, drop...)
}

// evaluate checks that what is recorded of every charge is what its facts say, that every deposit to it is one of its
// payments, that no more is refunded than was credited, and that its receiver, who drops old versions, knows whether it
// is paid.
func (h *sums) evaluate(notified map[bursar.ID]wire.Invoice) error {
	for _, c := range h.charges[max(0, len(h.charges)-8):] {
		d := h.now(c)
		s := d.State(h.DB.Now())
		r := d.Recorded
		same := r.Status == s.Status && slices.Equal(r.Labels, s.Labels) && r.Attention == s.Attention
		if !r.Turned(h.DB.Now()) && !same {
			return fmt.Errorf("charge %s is recorded as %+v, want %s %v %v", d.ID, r, s.Status, s.Labels, s.Attention)
		}
		received := bursar.Amount{}
		for _, p := range s.Payments {
			if p.Deposit.Status == bursar.DepositConfirmed && p.Deposit.Amount.SubOrZero(p.Deposit.Fee).Less(p.Refunded) {
				return fmt.Errorf("of payment %s %s are refunded, want at most %s", p.Deposit.ID, p.Refunded, p.Deposit.Amount)
			}
			if p.Counted && p.Deposit.Status == bursar.DepositConfirmed {
				received, _ = received.Add(p.Value)
			}
		}
		if received != s.Received {
			return fmt.Errorf("charge %s received %s, want %s", d.ID, s.Received, received)
		}
		last, known := notified[d.ID]
		if paid := s.Status == bursar.ChargePaid; paid && !(known && last.Paid) {
			return fmt.Errorf("charge %s is paid, and its receiver knows %+v", d.ID, last)
		}
	}
	return nil
}

// receiver returns the newest version of each charge that its events had.
func (h *sums) receiver() map[bursar.ID]wire.Invoice {
	h.t.Helper()
	newest := map[bursar.ID]wire.Invoice{}
	var list []store.Delivery
	h.must(h.DB.View(ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Deliveries().List(ctx, h.account, store.Page{Limit: 10_000})
		return err
	}))
	for _, d := range list { // in no order that matters
		var body struct {
			Response struct{ Webhook struct{ Charge wire.Invoice } }
		}
		h.must(json.Unmarshal(d.Body, &body))
		c := body.Response.Webhook.Charge
		if c.Version > newest[c.ChargeID].Version {
			newest[c.ChargeID] = c
		}
	}
	return newest
}

// The state of a charge is that of its facts, whatever happened in whichever order.
func TestRandomHistoriesOfSums(t *testing.T) {
	t.Parallel()
	seeds := 3
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bursartest.EachURL(t, func(t *testing.T, url string) {
				h := &sums{harness: newHarness(t, url), random: rand.New(rand.NewPCG(uint64(seed), 9))}
				for i := range 100 {
					h.act()
					if i%5 != 0 {
						continue
					}
					if err := h.evaluate(h.receiver()); err != nil {
						t.Fatalf("after %d steps: %v", i, err)
					}
				}
			})
		})
	}
}
