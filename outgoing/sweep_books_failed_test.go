package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// A sweep of a token failed in its block, and an older database adopted it without knowing what it was to collect. The
// journal gives it its bytes, and it is settled by them. A reorganisation deeper than finality takes back what was
// booked then, and no more: the token is collected, and nothing is booked at its address that is not there.
func TestAFailedSweepIsUnsettledByItsBytes(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		file := filepath.Join(r.T.TempDir(), "seed.marks")
		token := r.WithToken()
		r.Guarded(file)
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		w := r.WalletOf(0, token.Code)
		r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(80_000_000)})
		before := ""
		for range 20 {
			before = r.Backup()
			if r.Blocks(1); len(r.sweepsOf(w.Address.Base)) > 0 {
				break
			}
		}
		failed := r.sweepsOf(w.Address.Base)[0].TxID
		r.Chain.SetManners(token.Contract, sim.Manners{Paused: true})
		r.Chain.Mine(5)
		r.Revive(before, file)
		token = r.WithToken()
		r.Recovered()
		r.Step()
		x := r.externalSpend(failed)
		p := r.spendNow(x.OutgoingID)
		if p.Status != bursar.OutgoingFinal || !p.Failed || len(r.version(failed).Raw) == 0 {
			t.Fatalf("it is %s, failed: %v, and its external spend is %+v; want one that is settled by its bytes", p.Status,
				p.Failed, x)
		}
		if got := r.Holding(w.Address.Base, ""); !got.IsZero() {
			t.Fatalf("%s of the native asset are booked at the address, want 0", got)
		}
		r.Chain.SetManners(token.Contract, sim.Manners{})
		r.Undo(failed, failed)
		r.Trouble = true
		r.Step()
		if got := r.Holding(w.Address.Base, ""); !got.IsZero() {
			t.Errorf("after the reorganisation, %s of the native asset are booked at the address, want 0", got)
		}
		r.Blocks(30)
		if got := r.Chain.Balance(w.Address.Base, token.Contract); !got.IsZero() {
			r.LogOpen(5)
			t.Errorf("%s were not swept", got)
		}
		if p := r.spendNow(x.OutgoingID); p.Status != bursar.OutgoingFinal {
			t.Errorf("it is %s: %s, want %s", p.Status, p.Error, bursar.OutgoingFinal)
		}
		r.Must(r.Reconcile())
	})
}
