package outgoing_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// rotated begins an epoch, with marks as before, and gives the present hot wallet funds.
func (r *harness) rotated(g gap) (old chain.Source) {
	r.T.Helper()
	old = r.Hot
	r.Rotate()
	r.Guarded(g.file)
	r.Follower.Wait = bursartest.LongWait
	r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	return old
}

// A nonce of the hot wallet of an earlier epoch is lost: what the lost transaction paid would be paid by the present
// one, so that waits too.
func TestALostNonceOfAnOldHotWalletHoldsBackThePresentOne(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		old := r.rotated(g)
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.untilFilling(old.Base)
		r.Blocks(8)
		if got := r.Now(g.lost).TxID; got != "" {
			t.Errorf("the lost payment is made again by %s before its nonce is used up", got)
		}
		r.Chain.ClearFaults()
		r.Chain.Forget()
		r.Chain.Restore(g.txID)
		r.Follower.Wait = chain.Lifetime{Blocks: 5}
		r.Blocks(40)
		r.Trouble = false
		r.Settle()
		r.paidBothOnce(g)
	})
}

// While blocks are undone down to below the final one, nobody can say which nonces it used: nothing is paid then.
func TestNothingIsPaidBeforeNoncesAreLookedAt(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		r.Trouble = true
		r.Chain.Fail(sim.NonceAt, 1000, nil)
		r.Step() // what was signed after the lost one is put back
		for range 6 {
			for more, err := true, error(nil); more && err == nil; {
				more, err = r.Follower.Step(ctx, r.Lease)
			}
			r.popFinal()
			if err := r.Sender.Step(ctx, r.Lease); errors.Is(err, store.ErrLeaseLost) {
				t.Fatal(err)
			}
			if got := r.Now(g.lost).TxID; got != "" {
				t.Fatalf("the lost payment is made again by %s before anybody looked for lost nonces", got)
			}
			r.Chain.Mine(1)
		}
		r.Chain.ClearFaults()
		r.Trouble = false
		r.Settle()
		r.paidBothOnce(g)
	})
}

// popFinal forgets the recorded blocks from the final one on, as a reorg below it does.
func (r *harness) popFinal() {
	r.T.Helper()
	id := r.Chain.Capabilities().ID
	r.Do(func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, id)
		for h := state.Latest; err == nil && h >= state.Final && h > 0; h-- {
			var b store.Block
			if b, err = tx.Blocks().At(ctx, id, h); err == nil {
				err = tx.Blocks().RollBack(ctx, id, b)
			}
		}
		return store.IgnoreNotFound(err)
	})
}

// hasTheKeyMeanwhile has a lost nonce used up by a transaction that reaches no block: the next one of a thief, who has
// the key of the hot wallet, has exactly that nonce.
func (r *harness) hasTheKeyMeanwhile() {
	r.T.Helper()
	r.losesANonce()
	r.Trouble = true
	r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
	r.untilFilling(r.Hot.Base)
	r.Chain.Forget()
}

func (r *harness) theft() chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")}, Amount: bursar.Units(300_000)}
}

func (r *harness) haltsForTheft() {
	r.T.Helper()
	r.Blocks(3)
	if !r.alarmed("external_spend") || len(halted(r.OneChain)) == 0 {
		r.T.Errorf("after the theft the alarms are %v, and the halts %+v, want external_spend and a halt", r.Alarms(),
			halted(r.OneChain))
	}
}

// Somebody has the key of the hot wallet while a lost nonce is being used up, and the next nonce is exactly that one:
// what pays an address that is not ours is not ours by its nonce.
func TestATheftWithALostNonceHalts(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.hasTheKeyMeanwhile()
		r.Chain.ExternalSpend(r.Hot.Base, r.theft())
		r.haltsForTheft()
	})
}

// As before, but what the thief makes with the lost nonce moves nothing: it may approve somebody who takes everything.
// It is not ours by its nonce, nor does it begin a recovery, in which the theft that follows would only be unclear.
func TestWhatMovesNothingWithALostNonceHalts(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.hasTheKeyMeanwhile()
		r.Chain.ExternalSpend(r.Hot.Base)
		r.haltsForTheft()
	})
}

// The thief's transaction with the lost nonce pays a deposit address, as gas of ours does. It begins no recovery: the
// theft that follows halts the chain.
func TestATheftAfterALostNonceHalts(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.hasTheKeyMeanwhile()
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: r.Wallet(1).Address, Amount: bursar.Units(1)})
		r.Blocks(1)
		r.Chain.ExternalSpend(r.Hot.Base, r.theft())
		r.haltsForTheft()
	})
}

// A compromise order empties the hot wallet also while a nonce of it is lost.
func TestACompromiseOrderUsesUpALostNonce(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold)
		r.Guarded(g.file)
		r.Follower.Wait = bursartest.LongWait
		emptied(r.OneChain, cold)
		r.Blocks(60)
		if got := r.Chain.Balance(cold, ""); got.Less(bursar.Units(700_000_000)) {
			t.Errorf("the cold wallet holds %s, want nearly all", got)
			r.LogOpen(10)
		}
		if got := r.Chain.Balance(g.lost.Address.Base, ""); !got.IsZero() {
			t.Errorf("the lost payment is made during the order: %s", got)
		}
	})
}
