package unattributed_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// back requests a refund of a deposit to its sender.
func (r *harness) back(d bursar.Deposit) (bursar.Resolution, error) {
	return r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.node.Named("sender")})
}

// A native asset pays its own fees: the fee of the payment is deducted, and on the account model also the fee of
// sweeping it to the hot wallet, where it did not arrive there. A token is refunded in full, and so is a deposit whose
// fee the operator bears.
func TestTheFeesDeductedFromARefund(t *testing.T) {
	for name, c := range map[string]struct {
		chain             sim.Config
		at                string
		token             bool
		fromOperatorFunds bool
		fee               uint64
	}{
		"of a UTXO":              {utxoModel, "ann's", false, false, 1000},
		"at a deposit address":   {numbered, "ann's", false, false, 2000},
		"at the hot wallet":      {tagged, "hot", false, false, 1000},
		"of a token":             {numbered, "ann's", true, false, 0},
		"borne by the operator":  {numbered, "ann's", false, true, 0},
		"of a UTXO, borne":       {utxoModel, "ann's", false, true, 0},
		"of a token, also borne": {numbered, "ann's", true, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.chain)
			contract := ""
			if c.token {
				contract = r.tokens()
			}
			d := r.arrive(r.node.Named(c.at), contract, 80_000, 2)
			n, err := r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.node.Named("sender"),
				FromOperatorFunds: c.fromOperatorFunds,
				Note:              "n"})
			r.Must(err)
			if n.Kind != bursar.ResolutionRefund || n.Status != bursar.ResolutionQueued ||
				n.Address.Base != r.node.Named("sender") || n.Note != "n" ||
				n.Fee != bursar.Units(c.fee) || n.Amount != bursar.Units(80_000-c.fee) || r.standing(d).ID != n.ID {
				t.Errorf("the resolution is %+v", n)
			}
			if got := r.Deposit(d.ID); got.Purpose != bursar.ForRefunded || r.alarms() != 0 || len(r.decided) != 1 {
				t.Errorf("the deposit is for %s, %d alarms are open, woken is %s, want %v and 0 and 1 of them", got.Purpose,
					r.alarms(), r.decided, bursar.ForRefunded)
			}
			if !c.token {
				r.books(ledger.Unattributed, 0)
				r.books(ledger.Refunding, 80_000)
			}
		})
	}
}

// A deposit of which the fees leave nothing is not refunded. One unit is enough.
func TestARefundPaysMoreThanZero(t *testing.T) {
	r := newHarness(t, utxoModel)
	for _, units := range []uint64{1, 999, 1000} {
		d := r.stranded(units)
		_, err := r.back(d)
		r.refused("too little", err, unattributed.ErrDestination, d)
		if !strings.Contains(err.Error(), "0.00001000 COIN") {
			t.Errorf("it does not say what the fee is: %v", err)
		}
	}
	n, err := r.back(r.stranded(1001))
	if r.Must(err); n.Amount != bursar.Units(1) {
		t.Errorf("%s is paid, want %s", n.Amount, bursar.Units(1))
	}
	r.books(ledger.Unattributed, 2000)
}

// The chain is asked about the amount that is paid: one that it cannot carry after the fee is refused.
func TestWhatIsLeftAfterTheFeeMustBePayable(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	var asked []chain.Payment
	r.quote = func(p chain.Payment) (bursar.Amount, error) {
		if asked = append(asked, p); p.Amount.Less(bursar.Units(80_000)) {
			return bursar.Amount{}, &chain.RefusedError{Reason: "it is dust", Below: true}
		}
		return bursar.Units(1000), nil
	}
	_, err := r.back(d)
	r.refused("dust", err, unattributed.ErrDestination, d)
	want := chain.Payment{Address: bursar.Address{Base: r.node.Named("sender")}, Amount: bursar.Units(79_000)}
	if len(asked) != 2 || asked[1] != want {
		t.Errorf("asked about %+v, want 2 of them and %v", asked, want)
	}
}

// The fee of sweeping the value to the hot wallet is estimated for that value.
func TestTheSweepIsPricedForTheWholeValue(t *testing.T) {
	r := newHarness(t, numbered)
	var asked []chain.Payment
	r.quote = func(p chain.Payment) (bursar.Amount, error) {
		asked = append(asked, p)
		return bursar.Units(1000), nil
	}
	_, err := r.back(r.stranded(80_000))
	r.Must(err)
	if want := (chain.Payment{Address: bursar.Address{Base: r.hot}, Amount: bursar.Units(80_000)}); len(asked) != 3 ||
		asked[1] != want {
		t.Errorf("asked about %+v, want 3 of them and %v", asked, want)
	}
}

// Value is not refunded to the service itself: its addresses and wallets are refused, and so is an invalid address.
func TestARefundGoesToAnExternalAddress(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	for to, words := range map[string]string{"nowhere": "not a payable address of bitcoin",
		r.hot:               "an address of this service",
		r.bobs.Address.Base: r.bobs.ID.String()} {
		_, err := r.service.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: to})
		r.refused(to, err, unattributed.ErrDestination, d)
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", to, err, words)
		}
	}
}

// A destination that can never be paid is refused with the chain's reason; an unreachable node refuses no destination.
func TestAnUnreachableNodeRefusesNoDestination(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	r.quote = func(chain.Payment) (bursar.Amount, error) {
		return bursar.Amount{},
			&chain.RefusedError{Reason: "it is closed"}
	}
	_, err := r.back(d)
	r.refused("closed", err, unattributed.ErrDestination, d)
	if !strings.Contains(err.Error(), "it is closed") {
		t.Errorf("it says %v, want %q in it", err, "it is closed")
	}
	r.quote = func(chain.Payment) (bursar.Amount, error) { return bursar.Amount{}, sim.ErrNode }
	_, err = r.back(d)
	r.refused("away", err, sim.ErrNode, d)
	if errors.Is(err, unattributed.ErrDestination) {
		t.Errorf("the destination is blamed: %v", err)
	}
}

// A deposit that is reorged out while the node is asked is not refunded.
func TestADepositReorgedOutDuringPricingIsNotRefunded(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	r.quote = func(chain.Payment) (bursar.Amount, error) {
		if r.Deposit(d.ID).Status == bursar.DepositConfirmed {
			r.node.Reorg(3, d.TxID)
			r.node.Mine(3)
			r.step()
		}
		return bursar.Units(1000), nil
	}
	_, err := r.back(d)
	r.refused("gone", err, unattributed.ErrNotFinal, d)
	r.books(ledger.Refunding, 0)
}

// The list shows what waits, with why it belongs to no wallet, the wallet of its address and its resolution; with all,
// what is done too.
func TestTheListShowsWhatWaits(t *testing.T) {
	r := newHarness(t, utxoModel)
	families := map[bursar.ChainID]bursar.Family{bursar.Bitcoin: "bitcoin"}
	kept, waits := r.stranded(5), r.stranded(80_000)
	n, err := r.service.Keep(ctx, kept.ID, "")
	r.Must(err)
	list := func(families map[bursar.ChainID]bursar.Family, all bool) []unattributed.Item {
		items, err := unattributed.List(ctx, r.DB, families, all, store.Page{Limit: 10})
		r.Must(err)
		return items
	}
	one := list(families, false)
	if len(one) != 1 || one[0].ID != waits.ID || one[0].Wallet == nil || one[0].Wallet.ID != r.anns.ID ||
		one[0].Resolution != nil ||
		!strings.Contains(one[0].Why, "verify it with the node") {
		t.Errorf("listed is %+v", one)
	}
	if both := list(families, true); len(both) != 2 || both[0].ID != waits.ID || both[1].Resolution == nil ||
		both[1].Resolution.ID != n.ID {
		t.Errorf("of all %+v", both)
	}
	if bare := list(nil, false); len(bare) != 1 || bare[0].Wallet != nil {
		t.Errorf("of a chain that is not served %+v", bare)
	}
}

// Words describes a resolution.
func TestWordsDescribeAResolution(t *testing.T) {
	account, wallet := bursar.ID{15: 1}, bursar.ID{15: 2}
	for want, n := range map[string]bursar.Resolution{
		"assigned to account " + account.String(): {Kind: bursar.ResolutionAssign, AccountID: account},
		"assigned to wallet " + wallet.String():   {Kind: bursar.ResolutionAssign, AccountID: account, WalletID: wallet},
		"kept as capital":                         {Kind: bursar.ResolutionKeep},
		"return to x, queued": {Kind: bursar.ResolutionRefund, Status: bursar.ResolutionQueued,
			Address: bursar.Address{Base: "x"}},
	} {
		if got := unattributed.Describe(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A deposit that comes back with another amount while the node is asked is priced again.
func TestADepositThatChangesDuringPricingIsPricedAgain(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	r.quote = func(chain.Payment) (bursar.Amount, error) {
		r.ComesBack(d, 70_000)
		return bursar.Units(1000), nil
	}
	_, err := r.back(d)
	if n := r.standing(d); err == nil || !strings.Contains(err.Error(), "another amount") || !n.ID.IsZero() {
		t.Errorf("it gave %v, the resolution is %+v, want an error and %q in it and zero", err, n, "another amount")
	}
	n, err := r.back(d)
	if r.Must(err); n.Amount != bursar.Units(69_000) {
		t.Errorf("the second time %s is paid, want %s", n.Amount, bursar.Units(69_000))
	}
}

// No node is asked about a deposit that cannot be resolved.
func TestNoNodeIsAskedAboutAResolvedDeposit(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	_, err := r.service.Keep(ctx, d.ID, "")
	r.Must(err)
	r.quote = func(chain.Payment) (bursar.Amount, error) {
		t.Error("the node is asked")
		return bursar.Amount{}, nil
	}
	if _, err := r.back(d); !errors.Is(err, store.ErrResolved) {
		t.Errorf("it gave %v, want %v", err, store.ErrResolved)
	}
	if _, err := r.back(bursar.Deposit{ID: bursar.ID{15: 9}}); !errors.Is(err, bursar.ErrNotFound) {
		t.Errorf("of one that is not there: %v, want %v", err, bursar.ErrNotFound)
	}
}
