package outgoing_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// evaluation is a scenario with an operator who resolves unattributed deposits; it remembers whom a refund pays.
type evaluation struct {
	*simulatedRun
	refunded map[string]bursar.ID // deposit by the address that only its refund pays
}

func (j *evaluation) act() {
	switch n := j.random.IntN(20); {
	case n < 4 && len(j.wallets) > 0:
		w := j.wallets[j.random.IntN(len(j.wallets))]
		j.recent = append(j.recent, j.PayUnproven(w, j.random.Uint64N(50_000_000)+500))
	case n < 10:
		j.decideOne()
	case n < 11 && j.height() > 8:
		j.replace(4+j.random.IntN(4), 2) // final blocks as well
	default:
		j.simulatedRun.act()
	}
}

// decideOne resolves a deposit, or calls a refund back.
func (j *evaluation) decideOne() {
	var list []bursar.Deposit
	j.View(func(tx *store.Tx) (err error) {
		list, err = tx.Deposits().Unattributed(ctx, j.random.IntN(3) == 0, store.Page{Limit: 5})
		return err
	})
	if len(list) == 0 || len(j.wallets) == 0 {
		return
	}
	d, operator := list[j.random.IntN(len(list))], j.Unattributed()
	var err error
	switch j.random.IntN(6) {
	case 0:
		_, err = operator.AssignToWallet(ctx, d.ID, j.wallets[j.random.IntN(len(j.wallets))].ID, "")
	case 1:
		_, err = operator.AssignToAccount(ctx, d.ID, j.Accounts[j.random.IntN(3)], "")
	case 2:
		_, err = operator.Keep(ctx, d.ID, "")
	default:
		to := j.Chain.Named(fmt.Sprint("sender ", len(j.refunded)))
		if _, err = operator.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: to,
			FromOperatorFunds: j.random.IntN(2) == 0}); err == nil {
			j.refunded[to] = d.ID
			if j.random.IntN(4) == 0 {
				j.Step()
			}
			if j.random.IntN(3) == 0 {
				_, err = operator.Cancel(ctx, d.ID, "")
			}
		}
	}
	for _, allowed := range []error{unattributed.ErrNotFinal, unattributed.ErrTooLate, unattributed.ErrDestination,
		store.ErrResolved} {
		if errors.Is(err, allowed) {
			return
		}
	}
	if err != nil && !j.Trouble {
		j.T.Fatal(err)
	}
}

// rest lets everything finish, also the refunds that still wait.
func (j *evaluation) rest() {
	j.finish()
	for range 20 {
		waits := false
		j.View(func(tx *store.Tx) (err error) {
			waits, err = tx.Resolutions().AnyRefundQueued(ctx, j.Chain.Capabilities().ID,
				j.Registry.Served(j.Chain.Capabilities().ID, nil))
			return err
		})
		if !waits {
			return
		}
		j.Settle()
	}
	j.T.Fatal("a refund waits for ever")
}

// evaluateResolutions checks every refund against the chain, and the books against the resolutions.
func (j *evaluation) evaluateResolutions() error {
	var all []bursar.Deposit
	var resolutions map[bursar.ID]bursar.Resolution
	j.View(func(tx *store.Tx) (err error) {
		if all, err = tx.Deposits().Unattributed(ctx, true, store.Page{Limit: 1000}); err == nil {
			resolutions, err = tx.Resolutions().About(ctx, all)
		}
		return err
	})
	var open, lost bursar.Amount
	for _, d := range all {
		n := resolutions[d.ID]
		switch {
		case d.Purpose == bursar.ForUnattributed && d.Status == bursar.DepositConfirmed:
			open, _ = open.Add(d.Amount)
		case d.Purpose == bursar.ForRefunded && d.Status != bursar.DepositConfirmed:
			lost, _ = lost.Add(d.Amount)
		case n.Status == bursar.ResolutionQueued || n.Status == bursar.ResolutionSigned:
			return fmt.Errorf("resolution %+v has not ended", n)
		}
	}
	for to, id := range j.refunded {
		n, want := resolutions[id], bursar.Amount{}
		if n.Status == bursar.ResolutionDone && n.Address.Base == to {
			want = n.Amount
		}
		if got := j.Chain.Balance(to, ""); got != want {
			return fmt.Errorf("the sender of deposit %s holds %s, and the newest resolution is %+v", id, got, n)
		}
	}
	if u, b, l := j.Book(ledger.Unattributed), j.Book(ledger.Refunding), j.Book(ledger.Losses); u != open.String() ||
		b != "0" || l != lost.String() {
		return fmt.Errorf("the books say %s unattributed, %s on its way back, %s lost; the deposits say %s and %s", u, b, l,
			open, lost)
	}
	return nil
}

// Random histories of unattributed deposits, of their resolutions, and of everything that chains and processes do
// meanwhile end with every refund paid once or not at all, and with books that equal the chain to the unit.
func TestRandomResolutions(t *testing.T) {
	histories(t, 8, 11, func(t *testing.T, p *simulatedRun) {
		j := &evaluation{simulatedRun: p, refunded: map[string]bursar.ID{}}
		j.play(j.act)
		j.rest()
		if err := errors.Join(j.evaluate(), j.evaluateResolutions()); err != nil {
			t.Fatal(err)
		}
		if len(j.refunded) == 0 {
			t.Fatal("this history has no refund")
		}
	})
}
