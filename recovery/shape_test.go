package recovery_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// wallet makes a wallet of Ann's at an address.
func (r *harness) wallet(base string) bursar.Wallet {
	r.Helper()
	w := bursar.Wallet{ID: r.IDs.Next(), AccountID: ann, Currency: "COIN", Family: r.Capabilities.Family,
		Webhook: "https://a.example/",
		Address: bursar.Address{Base: base}, CreatedAt: r.at}
	r.do(func(tx *store.Tx) (err error) {
		if w.Number, err = tx.Wallets().TakeNumbers(ctx, 1); err != nil {
			return err
		}
		w.Index = uint32(w.Number) + 40
		return tx.Wallets().Insert(ctx, []bursar.Wallet{w})
	})
	return w
}

func (r *harness) orderOf(found recovery.Finding) (order chain.TxRequest) {
	r.Helper()
	r.need(json.Unmarshal(r.outgoing(found.OutgoingID).Order, &order))
	return order
}

// A database that may have forgotten something takes for its own what has the shape of what it makes itself: sweeps,
// gas top-ups,
// and what moved nothing but its fee. One that has forgotten nothing takes none of it.
func TestTheShapeOfWhatWeMakeOurselves(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities chain.Capabilities
		base         string
		failed       bool
		paid         []chain.Payment
		verdict      recovery.Verdict
		kind         chain.Kind
	}{
		"a sweep": {numbered, "deposit", false, []chain.Payment{pays("hot", "", 500)}, recovery.Adopted,
			chain.KindSweep},
		"a sweep of a token": {numbered, "deposit", false, []chain.Payment{pays("hot", "token", 500)},
			recovery.Adopted, chain.KindSweep},
		"a sweep of a skipped address": {numbered, "gap", false, []chain.Payment{pays("hot", "", 500)}, recovery.Adopted,
			chain.KindSweep},
		"a sweep of nobody": {numbered, "nobody", false, []chain.Payment{pays("hot", "", 500)}, recovery.Unclear,
			chain.KindSweep},
		"a sweep that failed":           {numbered, "deposit", true, nil, recovery.Adopted, chain.KindSweep},
		"a sweep of nobody that failed": {numbered, "nobody", true, nil, recovery.Unclear, chain.KindSweep},
		"two payments to the hot side": {numbered, "deposit", false,
			[]chain.Payment{pays("hot", "", 1), pays("hot", "token", 1)},
			recovery.Unclear, chain.KindWithdrawal},
		"to an outsider": {numbered, "deposit", false, []chain.Payment{pays("x", "", 500)}, recovery.Unclear,
			chain.KindWithdrawal},
		"a gas top-up": {numbered, "hot", false, []chain.Payment{pays("deposit", "", 9)}, recovery.Adopted,
			chain.KindGasTopUp},
		"tokens for us": {numbered, "hot", false, []chain.Payment{pays("deposit", "token", 9)}, recovery.Unclear,
			chain.KindWithdrawal},
		"gas for an outsider": {numbered, "hot", false, []chain.Payment{pays("x", "", 9)}, recovery.Unclear,
			chain.KindWithdrawal},
		"gas and more": {numbered, "hot", false, []chain.Payment{pays("deposit", "", 9), pays("x", "", 9)},
			recovery.Unclear, chain.KindWithdrawal},
		"nothing but a fee": {numbered, "hot", true, nil, recovery.Adopted, chain.KindWithdrawal},
		"change alone": {coined, "hot", false, []chain.Payment{pays("hot", "", 500)}, recovery.Adopted,
			chain.KindWithdrawal},
		"gas of UTXOs": {coined, "hot", false, []chain.Payment{pays("deposit", "", 9)}, recovery.Unclear,
			chain.KindWithdrawal},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.capabilities)
			w := r.wallet("deposit")
			r.do(func(tx *store.Tx) error {
				return tx.GapAddresses().Add(ctx, c.capabilities.Family, []store.GapAddress{{Index: 77, Base: "gap"}})
			})
			x := r.mineExternal(c.paid...)
			x.Base, x.Failed = c.base, c.failed
			if found := r.judge(x, false); found.Verdict != recovery.ExternalTx || !found.OutgoingID.IsZero() {
				t.Errorf("a database that has forgotten nothing takes it for %+v", found)
			}
			y := r.mineExternal(c.paid...)
			y.Base, y.Failed = c.base, c.failed
			found := r.judge(y, true)
			order := r.orderOf(found)
			if found.Verdict != c.verdict || order.Kind != c.kind || r.outgoing(found.OutgoingID).Failed != c.failed {
				t.Fatalf("it is %+v, its order %+v", found, order)
			}
			key := chain.KeyRef{Family: c.capabilities.Family, Branch: chain.DepositBranch, Index: w.Index}
			switch name {
			case "a sweep", "a sweep of a token", "a sweep that failed":
				if order.From.Key != key || order.From.Base != "deposit" || order.Payments[0].Address.Base != "hot" {
					t.Errorf("its order is %+v", order)
				}
			case "a sweep of a skipped address":
				if order.From.Key.Index != 77 {
					t.Errorf("its order is %+v", order)
				}
			case "a sweep of nobody":
				if order.From.Base != "nobody" {
					t.Errorf("its order is %+v", order)
				}
			case "a gas top-up":
				if order.Change.Key != key || order.From.Base != "hot" {
					t.Errorf("its order is %+v", order)
				}
			case "change alone":
				if order.Change.Base != "hot" || order.From.Base != "" {
					t.Errorf("its order is %+v", order)
				}
			}
		})
	}
}

// The nonces that an adopted transaction has used are used: the next transaction takes the one after them.
func TestAnAdoptedTransactionUsesItsNonce(t *testing.T) {
	r := newHarness(t, numbered)
	r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500))
	x.Reservations = []string{"hot/41", "other/90", "no nonce", "hot/x"}
	r.judge(x, false)
	r.do(func(tx *store.Tx) error {
		next, known, err := tx.Nonces().Next(ctx, bursar.Ethereum, "hot")
		if err != nil || !known || next != 42 {
			t.Errorf("the next nonce is %d, %v (%v)", next, known, err)
		}
		if _, known, err = tx.Nonces().Next(ctx, bursar.Ethereum, "other"); known {
			t.Error("another address has one")
		}
		return err
	})
}

// A nonce that was claimed for what is given up is free again, unless the adopted transaction has used it; other claims
// are no nonces, and a chain of UTXOs has none.
func TestTheNonceOfWhatIsGivenUpIsFree(t *testing.T) {
	for name, c := range map[string]struct {
		capabilities chain.Capabilities
		resources    []string
		next         uint64
		known        bool
	}{
		"another nonce":  {numbered, []string{"hot/5"}, 5, true},
		"the same nonce": {numbered, []string{"hot/9"}, 10, true},
		"another's":      {numbered, []string{"other/5"}, 10, true},
		"no nonces":      {numbered, []string{"hot", "hot/x", "/5"}, 10, true},
		"of UTXOs":       {coined, []string{"hot/5"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.capabilities)
			w, other := r.order(ann, "x", "COIN", 500), r.order(ann, "y", "COIN", 7)
			r.takenUp(bursar.OutgoingReserved, c.resources, w)
			x := r.mineExternal(pays("x", "", 500), pays("y", "", 7))
			x.Reservations = []string{"hot/9"}
			r.paid(r.judge(x, false), x, w, other)
			r.do(func(tx *store.Tx) error {
				if next, known, err := tx.Nonces().Next(ctx, c.capabilities.ID, "hot"); next != c.next || known != c.known ||
					err != nil {
					t.Errorf("the next nonce is %d, %v, %v", next, known, err)
				}
				_, known, err := tx.Nonces().Next(ctx, c.capabilities.ID, "other")
				if known {
					t.Error("another address has a nonce")
				}
				return err
			})
		})
	}
}

// An adopted transaction is of the currency of the withdrawal that it pays; else of the first that is configured, or of
// the native one.
func TestTheCurrencyOfAnAdoptedTransaction(t *testing.T) {
	for name, c := range map[string]struct {
		payments []chain.Payment
		want     bursar.CurrencyCode
	}{
		"of the withdrawal": {[]chain.Payment{pays("hot", "", 9), pays("x", "token", 500)}, "TOKEN"},
		"of the first known one": {[]chain.Payment{pays("y", "unknown", 9), pays("y", "token", 1), pays("y", "", 1)},
			"TOKEN"},
		"of the native one": {[]chain.Payment{pays("y", "unknown", 9)}, "COIN"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			r.order(ann, "x", "TOKEN", 500)
			if p := r.outgoing(r.judge(r.mineExternal(c.payments...), true).OutgoingID); p.Currency != c.want {
				t.Errorf("it is of %s", p.Currency)
			}
		})
	}
}

// What wanted the nonce of an adopted transaction and was not signed is given up: who it was to pay waits again, and
// what else it had
// claimed is free.
func TestWhatIsBeatenUnsignedIsGivenUp(t *testing.T) {
	r := newHarness(t, numbered)
	wanted, paid := r.order(bob, "b", "COIN", 100), r.order(ann, "x", "COIN", 500)
	p := r.takenUp(bursar.OutgoingReserved, []string{"hot/1", "hot/2"}, wanted)
	x := r.mineExternal(pays("x", "", 500))
	x.Reservations = []string{"hot/1"}
	r.paid(r.judge(x, false), x, paid)
	r.untouched(wanted)
	if got := r.outgoing(p.ID).Status; got != bursar.OutgoingAbandoned {
		t.Errorf("it is %s", got)
	}
	r.do(func(tx *store.Tx) error {
		owners, err := tx.Reservations().Owners(ctx, bursar.Ethereum, []string{"hot/1", "hot/2"})
		if len(owners) != 1 || owners["hot/1"] == p.ID {
			t.Errorf("claimed is %+v", owners)
		}
		return err
	})
}

// A transaction of ours that the database knows is recognised by what it uses up and pays: its version is the one in
// the block, and
// its withdrawals are on the chain. One that pays something else is none.
func TestAVersionIsRecognised(t *testing.T) {
	for name, c := range map[string]struct {
		status bursar.OutgoingStatus
		paid   []chain.Payment
		failed bool
		is     bool
	}{
		"claimed": {bursar.OutgoingReserved, []chain.Payment{pays("b", "", 100), pays("c", "", 7)}, false, true},
		"signed":  {bursar.OutgoingSigned, []chain.Payment{pays("c", "", 7), pays("b", "", 100)}, false, true},
		"sent": {bursar.OutgoingSent, []chain.Payment{pays("b", "", 100), pays("c", "", 7), pays("hot", "", 1)}, false,
			true},
		"failed":    {bursar.OutgoingSent, nil, true, true},
		"pays less": {bursar.OutgoingSent, []chain.Payment{pays("b", "", 100)}, false, false},
		"pays more": {bursar.OutgoingSent, []chain.Payment{pays("b", "", 100), pays("c", "", 7), pays("c", "", 7)}, false,
			false},
		"pays another":  {bursar.OutgoingSent, []chain.Payment{pays("b", "", 100), pays("c", "", 8)}, false, false},
		"pays in token": {bursar.OutgoingSent, []chain.Payment{pays("b", "token", 100), pays("c", "", 7)}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			one, two := r.order(bob, "b", "COIN", 100), r.order(ann, "c", "COIN", 7)
			p := r.takenUp(c.status, []string{"hot/1"}, one, two)
			x := r.mineExternal(c.paid...)
			x.Reservations, x.Failed = []string{"hot/1"}, c.failed
			found := r.judge(x, false)
			if (found.OutgoingID == p.ID) != c.is {
				t.Fatalf("it is %+v", found)
			}
			if c.is {
				r.paid(found, x, one, two)
			}
		})
	}
}

// What uses up the claims of two transactions of ours is a version of none.
func TestNothingIsAVersionOfTwo(t *testing.T) {
	r := newHarness(t, coined)
	one, two := r.order(bob, "b", "COIN", 100), r.order(ann, "c", "COIN", 7)
	p, q := r.takenUp(bursar.OutgoingSent, []string{"u:0"}, one), r.takenUp(bursar.OutgoingSent, []string{"u:1"}, two)
	x := r.mineExternal(pays("b", "", 100))
	x.Reservations = []string{"u:0", "u:1"}
	if found := r.judge(x, false); found.OutgoingID == p.ID || found.OutgoingID == q.ID {
		t.Errorf("it is %+v", found)
	}
}

// A sweep takes what there is: a version of it may move another amount, and its order says which from then on.
func TestAVersionOfASweepMovesWhatThereIs(t *testing.T) {
	for name, c := range map[string]struct {
		paid []chain.Payment
		is   bool
	}{
		"more":          {[]chain.Payment{pays("hot", "", 900)}, true},
		"another asset": {[]chain.Payment{pays("hot", "token", 900)}, false},
		"elsewhere":     {[]chain.Payment{pays("x", "", 900)}, false},
		"two":           {[]chain.Payment{pays("hot", "", 900), pays("hot", "", 1)}, false},
		"nothing":       {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			r.wallet("deposit")
			p := r.spend(bursar.OutgoingSent, chain.TxRequest{Kind: chain.KindSweep, From: chain.Source{Base: "deposit"},
				Payments: []chain.Payment{pays("hot", "", 500)}}, []string{"deposit/1"})
			x := r.mineExternal(c.paid...)
			x.Base, x.Reservations = "deposit", []string{"deposit/1"}
			found := r.judge(x, true)
			if (found.OutgoingID == p.ID) != c.is {
				t.Fatalf("it is %+v", found)
			}
			if order := r.orderOf(found); c.is && order.Payments[0].Amount != bursar.Units(900) {
				t.Errorf("its order is %+v", order)
			}
		})
	}
}
