package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// vanishes reorgs out the contents of the last blocks, and makes every node forget them.
func (r *harness) vanishes(txID string) {
	r.T.Helper()
	r.Undo(txID, txID)
	r.Chain.Forget()
	r.Trouble = true
	r.Step()
	if !r.alarmed(alarmBytesUnknown) {
		r.T.Error("no alarm is raised although its bytes are not known")
	}
}

// refusedAgain checks that no other version of an outgoing transaction is built, and that its error gives the reason.
func (r *harness) refusedAgain(lost bursar.ID, reason string) {
	r.T.Helper()
	r.waitedFor(lost)
	sign := &observed{Signer: r.Signer, outgoingID: lost}
	r.Sender.Signer = sign
	r.Blocks(2)
	r.noted(lost, "no other version can be built: "+reason, "`bursar outgoing abandon "+lost.String()+"` makes it void")
	if sign.asked > 0 {
		r.T.Error("another version was signed")
	}
	r.Sender.Signer = r.Signer
}

// A transaction that, by an operator's resolution, paid another address than requested has no other version: that would
// pay what nobody requested.
func TestAnAdoptedPaymentToAnotherAddressIsNotMadeAgain(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		old := r.Chain.Named("old address")
		r.Forget(old)
		meant := r.Order(300_000_000, r.Chain.Named("new address"))
		item := r.Unclear()[0]
		r.Must(r.Resolve(recovery.Answer{Item: item.Number, Withdrawals: []bursar.ID{meant.ID},
			Note: "ordered again by the customer"}))
		r.Recovered()
		r.vanishes(item.TxID)
		r.refusedAgain(item.OutgoingID, "its payments differ from those that were requested")
		_, err := r.Sender.Abandon(ctx, item.OutgoingID, outgoing.Abandonment{Reason: "no explorer shows it", Actor: "ann"})
		r.Must(err)
		r.Blocks(40)
		r.holdsOnce(meant)
		if got := r.Chain.Balance(old, ""); !got.IsZero() {
			t.Errorf("the old address holds %s, want 0", got)
		}
		r.wantNone(alarmBytesUnknown)
	})
}

// A transaction that was resolved as the operator's own has no other version, whether it halted the chain or was
// unclear after a restore.
func TestAPaymentThatNoRequestAskedForIsNotMadeAgain(t *testing.T) {
	for name, forgot := range map[string]bool{"unclear": true, "halted": false} {
		t.Run(name, func(t *testing.T) {
			onLasting(t, func(t *testing.T, r *harness) {
				r.Prepare()
				r.Settle()
				if forgot {
					r.Do(func(tx *store.Tx) error {
						return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
					})
				}
				first := r.Chain.ExternalSpend(r.Hot.Base,
					chain.Payment{Address: bursar.Address{Base: r.Chain.Named("outside")}, Amount: bursar.Units(200_000_000)})
				r.Blocks(3)
				if forgot {
					r.Must(r.Resolve(recovery.Answer{Item: r.Unclear()[0].Number, Rest: store.UsedForOperator, Actor: "ann"}))
				} else if taken, err := r.SettleExternal(); err != nil || len(taken) != 1 {
					t.Fatalf("settled are %+v: %v, want 1 of them", taken, err)
				}
				r.Blocks(1)
				r.vanishes(first)
				r.refusedAgain(r.externalSpend(first).OutgoingID, "it pays something that no request asked for")
			})
		})
	}
}

func (r *harness) externalSpend(txID string) (x store.ExternalSpend) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		x, err = tx.ExternalSpends().ByTx(ctx, r.Chain.Capabilities().ID, txID)
		return err
	})
	return x
}

// A transaction that failed on the chain has no other version: it would pay nobody.
func TestAnAdoptedFailureIsNotMadeAgain(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
		failed := r.Chain.ExternalFailed(r.Hot.Base,
			chain.Payment{Address: bursar.Address{Base: r.Chain.Named("outside")}, Amount: bursar.Units(1)})
		r.Blocks(1)
		x := r.externalSpend(failed)
		if x.OutgoingID.IsZero() || x.Status != store.ExternalAdopted {
			t.Fatalf("it was not adopted: %+v", x)
		}
		r.vanishes(failed)
		r.Recovered()
		r.refusedAgain(x.OutgoingID, "it pays nobody")
	})
}

// A sweep that was reorged out for good is built again with the same contents, and with gas if its address has too
// little of it by now.
func TestAnAdoptedSweepThatVanishesIsMadeAgain(t *testing.T) {
	for name, dear := range map[string]bool{"with the gas that it has": false, "with more gas": true} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
				r.WithTokens()
				r.Step()
				r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
				w := r.WalletOf(0, "TOKEN")
				r.Give("TOKEN", w.Address, 100_000)
				for n := 0; n < 20 && len(r.Chain.Waiting()) == 0; n++ {
					r.Blocks(1) // until its gas is on the way
				}
				r.Chain.Mine(3)
				r.follow()
				before := r.Backup()
				for n := 0; n < 20 && r.SweepOf(w.Address.Base).Height == 0; n++ {
					r.Blocks(1)
				}
				first := r.SweepOf(w.Address.Base)
				r.Restore(before)
				r.WithTokens()
				r.Step()
				lost := r.SweepOf(w.Address.Base)
				if lost.TxID != first.TxID || lost.Height == 0 || len(r.version(first.TxID).Raw) > 0 {
					t.Fatalf("it was not adopted: %+v", lost)
				}
				r.vanishes(first.TxID)
				if dear {
					r.Chain.SetRate(1_000)
				}
				r.waitedFor(lost.ID)
				if r.Step(); (r.topUps()[w.Address.Base] == 1) != dear {
					t.Errorf("open top-ups are %v, its error is %q, want %v", r.topUps(), r.spendNow(lost.ID).Error, dear)
				}
				r.Blocks(20)
				if got := r.Chain.Balance(w.Address.Base, r.tokenContract()); !got.IsZero() {
					t.Errorf("%s was not swept; the first is %+v", got, r.spendNow(lost.ID).Status)
				}
				if p := r.spendNow(lost.ID); p.Status != bursar.OutgoingFinal || len(r.version(p.TxID).Raw) == 0 {
					t.Errorf("the outgoing transaction is %s by %s, want %v and some", p.Status, p.TxID, bursar.OutgoingFinal)
				}
				r.wantNone(alarmBytesUnknown)
			})
		})
	}
}

func (r *harness) tokenContract() string {
	r.T.Helper()
	token, err := r.Registry.Get("TOKEN")
	r.Must(err)
	return token.Contract
}
