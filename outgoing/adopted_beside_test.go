package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// If an adopted transaction has used UTXOs that another one of ours has reserved, which is signed and was never sent,
// they are spent once it is final.
func TestAnAdoptedTransactionSpendsUTXOsThatAnotherHasReserved(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Pay(r.Wallet(0).Address, 600_000_000)
		r.Chain.Mine(3)
		r.Step()
		w := r.Order(500_000_000, r.Chain.Named("outside"))
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Step()
		r.Chain.ClearFaults()
		if got := r.Now(w).Status; got != bursar.WithdrawalSigned {
			t.Fatalf("the withdrawal is %s, want %s", got, bursar.WithdrawalSigned)
		}
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
		theirs := bursar.Address{Base: r.Chain.Named("the operator's")}
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: theirs, Amount: bursar.Units(200_000_000)})
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
		r.Trouble = true // the signed one can never be sent
		r.Chain.Mine(3)
		r.CatchUp()
		r.Check(r.Sender.Step(ctx, r.Lease))
		if p := r.spendNow(unclear[0].OutgoingID); p.Status != bursar.OutgoingFinal {
			t.Errorf("the adopted one is %s, want %s", p.Status, bursar.OutgoingFinal)
		}
		r.Must(r.Audit())
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the payment is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.Must(r.Audit())
	})
}
