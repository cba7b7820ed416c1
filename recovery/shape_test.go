package recovery_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// wallet creates a wallet of Ann's at an address.
func (r *harness) wallet(base string) bursar.Wallet {
	r.Helper()
	return r.AddWallet(bursar.Wallet{
		AccountID: ann,
		Currency:  "COIN",
		Family:    r.Capabilities.Family,
		Index:     41,
		Webhook:   "https://a.example/",
		Address:   bursar.Address{Base: base},
	})
}

func (r *harness) orderOf(found recovery.Finding) (request chain.TxRequest) {
	r.Helper()
	r.Must(json.Unmarshal(r.Outgoing(found.OutgoingID).Request, &request))
	return request
}

// A database that may have lost something recognises its own transactions by their shape: sweeps, gas top-ups, and
// those that failed. One that succeeded and moved nothing may let somebody else take everything later. A database that
// has lost nothing recognises none.
func TestOurOwnTransactionsAreRecognisedByShape(t *testing.T) {
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
		"two payments to the hot wallet": {numbered, "deposit", false,
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
		"nothing at all":    {numbered, "hot", false, nil, recovery.Unclear, chain.KindWithdrawal},
		"to itself": {numbered, "hot", false, []chain.Payment{pays("hot", "", 500)}, recovery.Unclear,
			chain.KindWithdrawal},
		"a sweep of nothing": {numbered, "deposit", false, []chain.Payment{pays("hot", "token", 0)}, recovery.Unclear,
			chain.KindSweep},
		"change alone": {utxoCapabilities, "hot", false, []chain.Payment{pays("hot", "", 500)}, recovery.Adopted,
			chain.KindWithdrawal},
		"gas of UTXOs": {utxoCapabilities, "hot", false, []chain.Payment{pays("deposit", "", 9)}, recovery.Unclear,
			chain.KindWithdrawal},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.capabilities)
			w := r.wallet("deposit")
			r.Do(func(tx *store.Tx) error {
				return tx.GapAddresses().Add(ctx, c.capabilities.Family, []store.GapAddress{{Index: 77, Base: "gap"}})
			})
			x := r.mineExternal(c.paid...)
			x.Base, x.Failed = c.base, c.failed
			if found := r.evaluate(x, false); found.Verdict != recovery.ExternalTx || !found.OutgoingID.IsZero() {
				t.Errorf("a database that has lost nothing assesses it as %+v", found)
			}
			y := r.mineExternal(c.paid...)
			y.Base, y.Failed = c.base, c.failed
			found := r.evaluate(y, true)
			request := r.orderOf(found)
			if found.Verdict != c.verdict || request.Kind != c.kind || r.Outgoing(found.OutgoingID).Failed != c.failed {
				t.Fatalf("it is %+v, its request %+v, want %v and %v and %v", found, request, c.verdict, c.kind, c.failed)
			}
			key := chain.KeyRef{Family: c.capabilities.Family, Branch: chain.DepositBranch, Index: w.Index}
			switch name {
			case "a sweep", "a sweep of a token", "a sweep that failed":
				if request.From.Key != key || request.From.Base != "deposit" || request.Payments[0].Address.Base != "hot" {
					t.Errorf("its request is %+v, want %v and %q and %q", request, key, "deposit", "hot")
				}
			case "a sweep of a skipped address":
				if request.From.Key.Index != 77 {
					t.Errorf("its request is %+v, want 77", request)
				}
			case "a sweep of nobody":
				if request.From.Base != "nobody" {
					t.Errorf("its request is %+v, want %q", request, "nobody")
				}
			case "a gas top-up":
				if request.Change.Key != key || request.From.Base != "hot" {
					t.Errorf("its request is %+v, want %v and %q", request, key, "hot")
				}
			case "change alone":
				if request.Change.Base != "hot" || request.From.Base != "" {
					t.Errorf("its request is %+v, want %q and %q", request, "hot", "")
				}
			}
		})
	}
}

// The nonces that an adopted transaction used are marked used: the next transaction takes the one after them.
func TestAnAdoptedTransactionUsesItsNonce(t *testing.T) {
	r := newHarness(t, numbered)
	r.order(ann, "x", "COIN", 500)
	x := r.mineExternal(pays("x", "", 500))
	x.Reservations = []string{"hot/41", "other/90", "no nonce", "hot/x"}
	r.evaluate(x, false)
	r.Do(func(tx *store.Tx) error {
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

// A nonce reserved by a transaction that is given up is free again, unless the adopted transaction used it; other
// reservations are not nonces, and a chain of UTXOs has none.
func TestTheNonceOfAnAbandonedTransactionIsFree(t *testing.T) {
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
		"of UTXOs":       {utxoCapabilities, []string{"hot/5"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, c.capabilities)
			w, other := r.order(ann, "x", "COIN", 500), r.order(ann, "y", "COIN", 7)
			r.takenUp(bursar.OutgoingReserved, c.resources, w)
			x := r.mineExternal(pays("x", "", 500), pays("y", "", 7))
			x.Reservations = []string{"hot/9"}
			r.paid(r.evaluate(x, false), x, w, other)
			r.Do(func(tx *store.Tx) error {
				if next, known, err := tx.Nonces().Next(ctx, c.capabilities.ID, "hot"); next != c.next || known != c.known ||
					err != nil {
					t.Errorf("the next nonce is %d, %v, %v, want %d and %v", next, known, err, c.next, c.known)
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

// The currency of an adopted transaction is that of the withdrawal that it pays; otherwise that of its first configured
// asset, or the native one.
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
			if p := r.Outgoing(r.evaluate(r.mineExternal(c.payments...), true).OutgoingID); p.Currency != c.want {
				t.Errorf("the outgoing transaction is of %s, want %v", p.Currency, c.want)
			}
		})
	}
}

// An unsigned transaction with the nonce of an adopted one is given up: its payments wait again, and its other
// reservations are released.
func TestAReplacedUnsignedTransactionIsGivenUp(t *testing.T) {
	r := newHarness(t, numbered)
	wanted, paid := r.order(bob, "b", "COIN", 100), r.order(ann, "x", "COIN", 500)
	p := r.takenUp(bursar.OutgoingReserved, []string{"hot/1", "hot/2"}, wanted)
	x := r.mineExternal(pays("x", "", 500))
	x.Reservations = []string{"hot/1"}
	r.paid(r.evaluate(x, false), x, paid)
	r.untouched(wanted)
	if got := r.Outgoing(p.ID).Status; got != bursar.OutgoingAbandoned {
		t.Errorf("the outgoing transaction is %s, want %s", got, bursar.OutgoingAbandoned)
	}
	r.Do(func(tx *store.Tx) error {
		owners, err := tx.Reservations().Owners(ctx, bursar.Ethereum, []string{"hot/1", "hot/2"})
		if len(owners) != 1 || owners["hot/1"] == p.ID {
			t.Errorf("reserved is %+v", owners)
		}
		return err
	})
}

// A known transaction of ours is recognised by what it uses and pays: its version is the one in the block, and its
// withdrawals are on the chain. A transaction with other payments is not a version.
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
			found := r.evaluate(x, false)
			if (found.OutgoingID == p.ID) != c.is {
				t.Fatalf("it is %+v, want %v", found, c.is)
			}
			if c.is {
				r.paid(found, x, one, two)
			}
		})
	}
}

// A transaction that uses the reservations of two transactions of ours is a version of neither.
func TestNothingIsAVersionOfTwo(t *testing.T) {
	r := newHarness(t, utxoCapabilities)
	one, two := r.order(bob, "b", "COIN", 100), r.order(ann, "c", "COIN", 7)
	p, q := r.takenUp(bursar.OutgoingSent, []string{"u:0"}, one), r.takenUp(bursar.OutgoingSent, []string{"u:1"}, two)
	x := r.mineExternal(pays("b", "", 100))
	x.Reservations = []string{"u:0", "u:1"}
	if found := r.evaluate(x, false); found.OutgoingID == p.ID || found.OutgoingID == q.ID {
		t.Errorf("it is %+v", found)
	}
}

// A sweep takes what there is: a version of it may move another amount, which its request has from then on.
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
			found := r.evaluate(x, true)
			if (found.OutgoingID == p.ID) != c.is {
				t.Fatalf("it is %+v, want %v", found, c.is)
			}
			if request := r.orderOf(found); c.is && request.Payments[0].Amount != bursar.Units(900) {
				t.Errorf("its request is %+v", request)
			}
		})
	}
}
