package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// known counts the previous transactions that the database has of some.
func (r *harness) known(txIDs ...string) (n int) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		found, err := tx.UTXOs().Previous(ctx, r.Chain.Capabilities().ID, txIDs)
		n = len(found)
		return err
	})
	return n
}

// paid pays n UTXOs to a wallet, and returns their transactions once they are final.
func (r *harness) paid(n int, units uint64) (txIDs []string) {
	r.T.Helper()
	to := r.Wallet(0).Address
	for range n {
		txIDs = append(txIDs, r.Chain.Pay(chain.Payment{Address: to, Amount: bursar.Units(units)}))
	}
	r.Blocks(4)
	return txIDs
}

// Whatever made a UTXO of ours is kept with its block, goes to the signer, and is dropped once the UTXO is spent
// finally.
func TestWhatMadeAUTXOIsKeptUntilItIsSpent(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		made := r.paid(2, 50_000_000)
		if n := r.known(made...); n != 2 {
			t.Fatalf("%d of 2 are kept, want 2", n)
		}
		before, to := r.Available(0), r.Chain.Named("outside")
		w := r.Order(80_000_000, to)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		if n := r.known(made...); n != 0 {
			t.Errorf("%d of 2 are kept after both were spent, want 0", n)
		}
	})
}

// What made UTXOs before this was kept is read from a node, once.
func TestWhatIsNotKeptIsReadFromTheNode(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		made := r.paid(2, 50_000_000)
		intruder(t, r.DB)(`DELETE FROM previous_txs`)
		r.Chain.Fail(sim.Previous, 1, nil)
		before, to := r.Available(0), r.Chain.Named("outside")
		w := r.Order(80_000_000, to)
		_ = r.Sender.Step(ctx, r.Lease)
		if n := r.known(made...); n != 0 {
			t.Errorf("%d are known though the node failed, want 0", n)
		}
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		if r.alarmed("utxo_unproven") {
			t.Error("the alarm is raised")
		}
	})
}

// A UTXO whose transaction no node has any more is left out, and an alarm says so; others are spent. When a node has it
// again, the alarm closes and the UTXO is spent too.
func TestAUTXOThatNothingProvesIsLeftOut(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		made := r.paid(1, 50_000_000)
		intruder(t, r.DB)(`DELETE FROM previous_txs`)
		r.Chain.Mine(1)
		r.CatchUp()
		head, err := r.Chain.Head(ctx)
		r.Must(err)
		r.Chain.Prune(head.Latest.Height)
		r.paid(1, 30_000_000)
		before, to := r.Available(0), r.Chain.Named("outside")
		w := r.Order(20_000_000, to)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		if !r.alarmed("utxo_unproven") || r.known(made...) != 0 {
			t.Error("no alarm is raised")
		}
		r.Chain.Prune(0)
		before, to = r.Available(0), r.Chain.Named("elsewhere")
		w = r.Order(45_000_000, to)
		r.Blocks(10)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		if r.alarmed("utxo_unproven") {
			t.Error("the alarm stays")
		}
	})
}

// A signer refuses what the service does not prove, and the transaction is built again.
func TestWithoutProofsNothingIsSigned(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.paid(1, 50_000_000)
		real := r.Sender.Signer
		var refused *signer.RefusalError
		r.Sender.Signer = bursartest.SignerFunc(func(
			c context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
		) (chain.SignedTx, error) {
			if len(unsigned.Previous) != 1 {
				t.Errorf("%d previous transactions come with one input, want 1", len(unsigned.Previous))
			}
			unsigned.Previous = nil
			tx, err := real.Sign(c, id, request, unsigned)
			errors.As(err, &refused)
			return tx, err
		})
		before, to := r.Available(0), r.Chain.Named("outside")
		w := r.Order(20_000_000, to)
		_ = r.Sender.Step(ctx, r.Lease)
		if refused == nil || refused.Reason != signer.ReasonProof || !strings.Contains(refused.Detail, "nothing proves") {
			t.Errorf("refused: %v", refused)
		}
		r.Sender.Signer = real
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}
