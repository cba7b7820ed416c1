package outgoing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// short is a chain that counts what others take among the funds that a transaction lacks, as those of Ethereum do.
type short struct{ *sim.Chain }

func (c short) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	unsigned, err := c.Chain.Build(ctx, request)
	var funds *chain.NeedsFundsError
	if errors.As(err, &funds) && funds.Contract == "" {
		taken := request.ReservedOf("").SubOrZero(c.Balance(request.From.Base, ""))
		missing, sumErr := funds.Missing.Add(taken)
		return unsigned, errors.Join(sumErr, &chain.NeedsFundsError{Missing: missing})
	}
	return unsigned, err
}

// twoSentAndUndone is sentAndUndone for two withdrawals, which a block paid for that is replaced.
func (r *harness) twoSentAndUndone(first, second uint64) (paid []bursar.Withdrawal) {
	r.T.Helper()
	r.Trouble = true
	r.Chain.HoldFinality(true)
	brought := r.Pay(bursar.Address{Base: r.Hot.Base}, first+second+100_000_000)
	r.Chain.Mine(1)
	drop := []string{brought}
	for n, units := range []uint64{first, second} {
		w := r.OrderOf(n, "COIN", units, r.Chain.Named([]string{"somebody", "another"}[n]))
		r.CatchUp()
		r.Must(r.Sender.Step(ctx, r.Lease)) // without the sweeper's step
		if paid = append(paid, w); r.Now(w).TxID == "" {
			r.T.Fatal("nothing was sent")
		}
		drop = append(drop, r.Now(w).TxID)
	}
	r.Undo(brought, drop...)
	r.Chain.HoldFinality(false)
	return paid
}

// A reorganisation takes from the old hot wallet what it was to pay two withdrawals with. What makes the first one void
// goes before the second one, so it does not wait for the funds of that one, which never come: it needs its fee alone.
func TestTwoPaymentsThatAnOldHotWalletCannotPayArePaidByThePresentOne(t *testing.T) {
	byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 50_000_000)
		for n := range 2 {
			r.Pay(r.WalletOf(n, "COIN").Address, 200_000_000)
		}
		r.Chain.Mine(3)
		r.CatchUp()
		paid, before := r.twoSentAndUndone(80_000_000, 60_000_000), r.Hot
		r.Rotate()
		r.Sender.MaxFee, r.Sender.Chain = bursar.Units(1_000_000), short{r.Chain}
		for range 24 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		for _, w := range paid {
			if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
				t.Errorf("%s were paid, want %s once", got, w.Amount)
			}
		}
		if left := r.Chain.Balance(before.Base, ""); !left.Less(bursartest.UnspentFee) {
			t.Errorf("the old hot wallet holds %s, want it emptied", left)
		}
		r.NothingOpen()
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}
