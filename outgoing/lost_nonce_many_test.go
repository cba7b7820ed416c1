package outgoing_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// More lost nonces than a reorganisation loses are not used up, and an alarm says how many they are and which command
// uses them up. With exactly that number it does, once, and payments go on.
func TestManyLostNoncesAreUsedUpByAnOperatorsWord(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		const many = 150
		var next uint64
		r.Do(func(tx *store.Tx) (err error) {
			id := r.Chain.Capabilities().ID
			if next, _, err = tx.Nonces().Next(ctx, id, r.Hot.Base); err != nil {
				return err
			}
			return tx.Nonces().Use(ctx, id, r.Hot.Base, next+many-1)
		})
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Blocks(3)
		if len(r.filling(r.Hot.Base)) > 0 || r.Now(w).TxID != "" {
			t.Errorf("%d transactions use up nonces, and the payment is made by %q, want none", len(r.filling(r.Hot.Base)),
				r.Now(w).TxID)
		}
		r.wantSaid("`bursar recovery use-up ethereum " + r.Hot.Base + " --nonces 150`")
		word := outgoing.UseUp{Base: r.Hot.Base, Nonces: many - 1, Reason: "a test", Actor: "ann"}
		if _, _, err := r.Sender.UseUpNonces(ctx, word); !errors.Is(err, outgoing.ErrNotLost) {
			t.Errorf("with another number: %v, want %v", err, outgoing.ErrNotLost)
		}
		word.Nonces = many
		from, to, err := r.Sender.UseUpNonces(ctx, word)
		r.Must(err)
		if from != next || to != next+many-1 || len(r.filling(r.Hot.Base)) != many {
			t.Errorf("nonces %d to %d are used up by %d transactions, want %d from %d", from, to,
				len(r.filling(r.Hot.Base)), many, next)
		}
		if _, _, err := r.Sender.UseUpNonces(ctx, word); !errors.Is(err, outgoing.ErrNotLost) {
			t.Errorf("once more: %v, want %v", err, outgoing.ErrNotLost)
		}
		r.Blocks(2)
		if len(r.filling(r.Hot.Base)) == 0 || r.Now(w).TxID != "" {
			t.Error("the nonces are used up already")
		}
		r.wantSaid("outgoing transactions use up 150 lost nonces")
		r.Settle()
		r.holdsOnce(w)
		r.NothingOpen()
		r.wantNone("nonce_lost")
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}

// Nothing is used up where no nonce is lost, at an address of which nothing is known, nor on a chain whose transactions
// expire.
func TestNothingIsUsedUpWithoutALostNonce(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		for _, base := range []string{r.Hot.Base, r.Chain.Named("somebody")} {
			word := outgoing.UseUp{Base: base, Nonces: 1, Reason: "a test", Actor: "ann"}
			if _, _, err := r.Sender.UseUpNonces(ctx, word); !errors.Is(err, outgoing.ErrNotLost) {
				t.Errorf("of %s: %v, want %v", base, err, outgoing.ErrNotLost)
			}
		}
	})
}

// The alarm about the many lost nonces of a deposit address stays open in a step that does not look at its sweeps.
func TestTheAlarmAboutManyLostNoncesOfADepositAddressStays(t *testing.T) {
	byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
		w, _ := r.losesASweep()
		id, base := r.Chain.Capabilities().ID, w.Address.Base
		r.Trouble = true
		r.Do(func(tx *store.Tx) error { return tx.Nonces().Use(ctx, id, base, 200) })
		r.minutes(c, 25)
		r.wantSaid("bursar recovery use-up ethereum " + base)
		halt := store.Halt{Scope: store.HaltChain(id), Kind: store.HaltByOperator, Reason: "a test", Actor: "ann"}
		r.Halt(halt)
		r.minutes(c, 1)
		r.wantSaid("bursar recovery use-up ethereum " + base)
	})
}
