package outgoing_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

const alarmBytesUnknown = "bytes_unknown"

// lostAdopted has a payment made that the database forgets and adopts from a block, and that block reorged out with the
// payment, which no node has any more. It returns the withdrawal and the transaction.
func (r *harness) lostAdopted() (w bursar.Withdrawal, txID string) {
	r.T.Helper()
	return r.lostAdoptedOf(300_000_000)
}

// lostAdoptedOf is lostAdopted for a payment of a given number of units.
func (r *harness) lostAdoptedOf(units uint64) (w bursar.Withdrawal, txID string) {
	r.T.Helper()
	r.Prepare()
	w = r.Order(units, r.Chain.Named("receiver"))
	before := r.Backup()
	r.Step()
	r.Chain.Mine(1)
	r.Restore(before)
	r.Step()
	adopted := r.Now(w)
	if adopted.TxID == "" || len(r.version(adopted.TxID).Raw) > 0 {
		r.T.Fatalf("the withdrawal is %s, and was not adopted from a block", adopted.Status)
	}
	if r.alarmed(alarmBytesUnknown) {
		r.T.Error("an alarm is raised although the block was not reorged out")
	}
	r.Chain.Reorg(1, adopted.TxID)
	r.Chain.Forget()
	return w, adopted.TxID
}

// holdsOnce checks that a withdrawal's receiver was paid its amount once.
func (r *harness) holdsOnce(list ...bursar.Withdrawal) {
	r.T.Helper()
	for _, w := range list {
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			now := r.Now(w)
			r.T.Errorf("the receiver holds %s, want %s; the withdrawal is %s by %s", got, w.Amount, now.Status, now.TxID)
			r.LogOpen(10)
		}
	}
}

// If a payment that the database had forgotten is adopted from a block and a short reorg removes it for good, the
// transactions behind its nonce are included all the same, and its payment is made again. An alarm says so as soon as
// the block has been reorged out.
func TestAnAdoptedPaymentThatVanishesHasAnEnd(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		w, first := r.lostAdopted()
		r.Trouble = true
		r.Step()
		if !r.alarmed(alarmBytesUnknown) {
			t.Error("no alarm is raised although the payment is in no block and its bytes are not known")
		}
		w2 := r.Order(100_000_000, r.Chain.Named("another"))
		r.Blocks(80)
		r.holdsOnce(w, w2)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || len(r.version(now.TxID).Raw) == 0 {
			t.Errorf("the withdrawal is %s by %s, and the first was %s, want %v and some", now.Status, now.TxID, first,
				bursar.WithdrawalConfirmed)
		}
		r.NothingOpen()
		r.wantNone(alarmBytesUnknown)
		r.Must(r.Audit())
	})
}

func (r *harness) wantNone(kind string) {
	r.T.Helper()
	if r.alarmed(kind) {
		r.T.Errorf("the alarm %s is still open", kind)
	}
}

// If the payment is included again in a later block while the other version of it is in progress, it counts, the other
// version is never included, and the receiver is paid once.
func TestAnAdoptedPaymentThatComesBackCounts(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		w, first := r.lostAdopted()
		r.Trouble = true
		if expires := !r.Chain.Capabilities().Lifetime.IsZero(); expires {
			r.Blocks(1)
			r.Chain.ReorgBack(1, first)
		} else {
			r.Chain.HoldFinality(true) // the other version does not become final
			r.Chain.SetRate(30)        // so that it is another transaction
			second := ""
			for n := 0; n < 40 && second == ""; n++ {
				r.Blocks(1)
				if now := r.Now(w).TxID; now != first {
					second = now
				}
			}
			r.Blocks(2)
			if ref, err := r.Chain.Find(ctx, second); err != nil {
				t.Fatalf("the other version %q is in no block: %+v, %v", second, ref, err)
			}
			r.Chain.ReorgBack(3, first, second)
			r.Chain.SetRate(10)
		}
		r.Chain.Mine(1)
		r.Step()
		r.Chain.HoldFinality(false)
		r.Blocks(60)
		r.holdsOnce(w)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != first {
			t.Errorf("the withdrawal is %s by %s, and %s was included again", now.Status, now.TxID, first)
		}
		w2 := r.Order(100_000_000, r.Chain.Named("another"))
		r.Settle()
		r.holdsOnce(w2)
		r.NothingOpen()
		r.wantNone(alarmBytesUnknown)
		r.wantNone("abandoned_included")
		r.Must(r.Audit())
	})
}

// A payment that an operator made void is paid again by another transaction that cannot be included beside it, once
// that is final; and if the first is included before that, it counts.
func TestAnAdoptedPaymentThatVanishedIsMadeVoid(t *testing.T) {
	for name, back := range map[string]bool{"it is gone": false, "it comes back": true} {
		for model, config := range bursartest.Models {
			if config.Expiry > 0 {
				continue // it ends by itself
			}
			t.Run(name+", "+model, func(t *testing.T) {
				each(t, config, func(t *testing.T, r *harness) {
					w, first := r.lostAdopted()
					r.Trouble = true
					r.Step()
					lost := r.Now(w).OutgoingID
					by, err := r.Sender.Abandon(ctx, lost, outgoing.Abandonment{Reason: "no explorer shows it", Actor: "ann"})
					r.Must(err)
					if back {
						r.Chain.Restore(first)
						r.Chain.Mine(1)
					}
					r.Blocks(60)
					r.holdsOnce(w)
					now := r.Now(w)
					if now.Status != bursar.WithdrawalConfirmed || (now.TxID == first) != back {
						t.Errorf("it is %s by %s, and %s was made void, want %v and %v", now.Status, now.TxID, first,
							bursar.WithdrawalConfirmed, back)
					}
					r.sharesResource(lost, by)
					w2 := r.Order(100_000_000, r.Chain.Named("another"))
					r.Blocks(20)
					r.holdsOnce(w2)
					r.NothingOpen()
					r.wantNone(alarmBytesUnknown)
					r.Must(r.Audit())
				})
			})
		}
	}
}

// sharesResource checks that every version of one outgoing transaction uses something that the first version of another
// one uses.
func (r *harness) sharesResource(lost, by bursar.ID) {
	r.T.Helper()
	resources := func(id bursar.ID) (list [][]string) {
		r.View(func(tx *store.Tx) error {
			versions, err := tx.Outgoing().Versions(ctx, id)
			for _, v := range versions {
				var unsigned chain.UnsignedTx
				r.Must(json.Unmarshal(v.Unsigned, &unsigned))
				list = append(list, unsigned.Reservations)
			}
			return err
		})
		return list
	}
	first := resources(lost)[0]
	for _, other := range resources(by) {
		if !slices.ContainsFunc(other, func(resource string) bool { return slices.Contains(first, resource) }) {
			r.T.Errorf("the voiding transaction uses %v, and it uses %v: both may be included", other, first)
		}
	}
}

// A transaction that, by an operator's resolution, paid something that no request asked for has no other version: it
// waits, its error names the command, and once an operator has made it void, the transactions behind its nonce are
// included.
func TestAnAdoptedPaymentWithoutARequestIsNotMadeAgain(t *testing.T) {
	for model, config := range bursartest.Models {
		if config.Expiry > 0 {
			continue // it ends by itself
		}
		t.Run(model, func(t *testing.T) {
			each(t, config, func(t *testing.T, r *harness) {
				r.Prepare()
				r.Do(func(tx *store.Tx) error {
					return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
				})
				outside := bursar.Address{Base: r.Chain.Named("outside")}
				first := r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: outside, Amount: bursar.Units(200_000_000)})
				r.Chain.Mine(1)
				r.Step()
				unclear := r.Unclear()
				if len(unclear) != 1 {
					t.Fatalf("unclear is %+v, want 1 of them", unclear)
				}
				book := outgoing.NewAssessor(r.Chain.Capabilities(), r.Registry, r.IDs, r.Hot, r.Sender.Log)
				r.Do(func(tx *store.Tx) error {
					return book.Resolve(ctx, tx, recovery.Answer{Item: unclear[0].Number, Rest: store.UsedForOperator, Actor: "ann"})
				})
				r.Chain.Reorg(1, first)
				r.Chain.Forget()
				r.Trouble = true
				r.Step()
				if !r.alarmed(alarmBytesUnknown) {
					t.Error("no alarm is raised")
				}
				w := r.Order(100_000_000, r.Chain.Named("another"))
				r.Blocks(30)
				lost := unclear[0].OutgoingID
				if p := r.spendNow(lost); p.Status != bursar.OutgoingSent ||
					!strings.Contains(p.Error, "bursar outgoing abandon "+lost.String()) {
					t.Errorf("the outgoing transaction is %s with the error %q, want %s and one with %q",
						p.Status, p.Error, bursar.OutgoingSent, "bursar outgoing abandon "+lost.String())
				}
				_, err := r.Sender.Abandon(ctx, lost, outgoing.Abandonment{Reason: "no explorer shows it", Actor: "ann"})
				r.Must(err)
				r.Blocks(40)
				r.holdsOnce(w)
				if got := r.Chain.Balance(outside.Base, ""); !got.IsZero() {
					t.Errorf("%s was paid that no request asked for, want 0", got)
				}
				r.NothingOpen()
				r.wantNone(alarmBytesUnknown)
				r.Must(r.Audit())
			})
		})
	}
}

func (r *harness) spendNow(id bursar.ID) (p bursar.OutgoingTx) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		p, err = tx.Outgoing().Get(ctx, id)
		return err
	})
	return p
}
