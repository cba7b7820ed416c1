package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// If an adopted transaction has used UTXOs that another one of ours has reserved, which is signed and was never sent,
// they are spent once it is final.
func TestAnAdoptedTransactionSpendsUTXOsThatAnotherHasReserved(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.chain.Mine(3)
		r.step()
		r.pay(r.wallet(0).Address, 600_000_000)
		r.chain.Mine(3)
		r.step()
		w := r.order(500_000_000, r.chain.Named("outside"))
		r.chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.step()
		r.chain.ClearFaults()
		if got := r.now(w).Status; got != bursar.WithdrawalSigned {
			t.Fatalf("it is %s", got)
		}
		r.do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.chain.Capabilities().ID, "the database was restored")
		})
		theirs := bursar.Address{Base: r.chain.Named("the operator's")}
		r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: theirs, Amount: bursar.Units(200_000_000)})
		r.chain.Mine(1)
		r.step()
		unclear := r.unclear()
		if len(unclear) != 1 {
			t.Fatalf("unclear is %+v", unclear)
		}
		book := outgoing.Book(r.chain.Capabilities(), r.registry, r.ids, r.hot, r.sender.Log)
		r.do(func(tx *store.Tx) error {
			return book.Resolve(ctx, tx, recovery.Answer{Item: unclear[0].Number, Rest: store.UsedForOperator, Actor: "ann"})
		})
		r.trouble = true // the signed one can never be sent
		r.chain.Mine(3)
		r.catchUp()
		r.check(r.sender.Step(ctx, r.lease))
		if p := r.spendNow(unclear[0].OutgoingID); p.Status != bursar.OutgoingFinal {
			t.Errorf("the adopted one is %s", p.Status)
		}
		r.must(r.audit())
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the payment is %s", got)
		}
		r.must(r.audit())
	})
}
