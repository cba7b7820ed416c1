package sim_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// numbered is a chain whose hot address holds a million of its native asset and a million of a token.
func numbered(t *testing.T, config sim.Config) (w *harness, token string) {
	t.Helper()
	config.Spending = chain.AccountModel
	w = newHarness(t, config)
	token = w.Named("token")
	w.Pay(pay(w.hot.Base, million), inToken(token, w.hot.Base, million))
	w.Mine(1)
	return w, token
}

func inToken(token, base string, amount uint64) chain.Payment {
	p := pay(base, amount)
	p.Contract = token
	return p
}

func (w *harness) last() chain.Block {
	w.t.Helper()
	blocks := w.blocks()
	return blocks[len(blocks)-1]
}

// A draft knows nothing of what waits: only what the order says is reserved is subtracted.
func TestBuildSubtractsOnlyWhatTheRequestReserves(t *testing.T) {
	t.Parallel()
	w, token := numbered(t, sim.Config{})
	order := w.order(inToken(token, w.Named("x"), million))
	w.sent(order)
	if _, err := w.Build(t.Context(), order); err != nil {
		t.Fatalf("a draft saw what waits: %v", err)
	}
	order.Reserved = []chain.Reserve{{Contract: token, Amount: bursar.Units(1)}}
	var funds *chain.NeedsFundsError
	if _, err := w.Build(t.Context(), order); !errors.As(err, &funds) || funds.Contract != token ||
		funds.Missing != bursar.Units(1) {
		t.Fatalf("a token that is spoken for: %v", err)
	}
	order.Reserved = []chain.Reserve{{Amount: bursar.Units(million)}}
	if _, err := w.Build(t.Context(), order); !errors.As(err, &funds) || funds.Contract != "" {
		t.Fatalf("a native asset that is spoken for: %v", err)
	}
}

// What a token's contract really moved is shown, though the transaction succeeded.
func TestTokensMisbehave(t *testing.T) {
	t.Parallel()
	w, token := numbered(t, sim.Config{})
	x := w.Named("x")
	included := func(m sim.Manners) chain.Inclusion {
		w.SetManners(token, m)
		w.sent(w.order(inToken(token, x, 1000)))
		w.Mine(1)
		return w.last().Included[0]
	}
	if in := included(sim.Manners{}); in.Failed ||
		!reflect.DeepEqual(in.Delivered, []chain.Payment{inToken(token, x, 1000)}) {
		t.Errorf("a good token: %+v", in)
	}
	if in := included(sim.Manners{Fee: 10_000}); in.Failed ||
		!reflect.DeepEqual(in.Delivered, []chain.Payment{inToken(token, x, 990), inToken(token, "issuer", 10)}) {
		t.Errorf("one that takes a fee: %+v", in)
	}
	if in := included(sim.Manners{False: true}); in.Failed || in.Delivered == nil || len(in.Delivered) != 0 {
		t.Errorf("one that returns false: %+v", in)
	}
	if in := included(sim.Manners{Paused: true}); !in.Failed || in.Delivered != nil {
		t.Errorf("one that is paused: %+v", in)
	}
	w.SetManners(token, sim.Manners{})
	w.FreezeToken(token, w.hot.Base, true)
	if in := included(sim.Manners{}); !in.Failed {
		t.Errorf("one that is frozen: %+v", in)
	}
	w.Seize(token, w.hot.Base)
	w.Mine(1)
	if b := w.last(); len(b.Transfers)+len(b.ExternalSpends) != 0 || !w.Balance(w.hot.Base, token).IsZero() {
		t.Errorf("a seizure: %+v, want none and zero", b)
	}
	if got := w.Balance(x, token); got != bursar.Units(1990) {
		t.Errorf("paid %s, want %s", got, bursar.Units(1990))
	}
}

// The fee of a token is an event of its own, and so what somebody else pays with our key shows all that has left.
func TestAnExternalSpendShowsTheFeeOfAToken(t *testing.T) {
	t.Parallel()
	w, token := numbered(t, sim.Config{})
	thief := w.Named("thief")
	w.SetManners(token, sim.Manners{Fee: 10_000})
	w.ExternalSpend(w.hot.Base, inToken(token, thief, 1000))
	w.Mine(1)
	want := []chain.Payment{inToken(token, thief, 990), inToken(token, "issuer", 10)}
	if got := w.last().ExternalSpends; len(got) != 1 || !reflect.DeepEqual(got[0].Payments, want) {
		t.Errorf("the external spends are %+v, want one that pays %+v", got, want)
	}
	if got := w.Balance(w.hot.Base, token); got != bursar.Units(million-1000) {
		t.Errorf("the hot wallet holds %s, want %d", got, million-1000)
	}
}

// An external spend is included up to the height that it names, and not above it; a block shows that height, where its
// transactions are numbered.
func TestAnExternalSpendNamesItsLastHeight(t *testing.T) {
	t.Parallel()
	for _, unnumbered := range []bool{false, true} {
		w, _ := numbered(t, sim.Config{Expiry: 5, Unnumbered: unnumbered})
		_, tip := w.Heights()
		thief := pay(w.Named("thief"), 1000)
		shown := map[bool]uint64{false: tip + 1}[unnumbered]
		id := w.ExternalExpiring(w.hot.Base, tip+1, thief)
		w.Mine(1)
		if got := w.last().ExternalSpends; len(got) != 1 || got[0].LastHeight != shown {
			t.Errorf("the external spends are %+v, want one up to %d", got, shown)
		}
		w.Reorg(1, id)
		w.Restore(id)
		if w.Mine(1); w.has(id) {
			t.Errorf("the external spend is in a block after %d", tip+1)
		}
		never := w.ExternalSpend(w.hot.Base, thief)
		if w.Mine(1); !w.has(never) || w.last().ExternalSpends[0].LastHeight != 0 {
			t.Errorf("the external spends are %+v, want one without a last height", w.last().ExternalSpends)
		}
	}
}

// A node that has pruned the blocks which could hold a transaction proves nothing about it.
func TestPrunedHistoryProvesNothing(t *testing.T) {
	t.Parallel()
	w, _ := numbered(t, sim.Config{Expiry: 5, Unnumbered: true})
	unsigned, tx := w.built(w.order(pay(w.Named("x"), 1000)))
	w.Mine(6)
	if over, err := w.Expired(t.Context(), unsigned, tx.TxID); err != nil || !over {
		t.Fatalf("past its last block: %v, %v", over, err)
	}
	w.Prune(4)
	if over, err := w.Expired(t.Context(), unsigned, tx.TxID); over || !errors.Is(err, chain.ErrPruned) {
		t.Fatalf("with pruned history: %v, %v", over, err)
	}
}

// Where nothing is numbered, a chain takes the same payment twice, and an external spend names nothing that it used up.
func TestAnUnnumberedChainRefusesNoSecondPayment(t *testing.T) {
	t.Parallel()
	w, _ := numbered(t, sim.Config{Expiry: 5, Unnumbered: true})
	order := w.order(pay(w.Named("x"), 1000))
	first, _ := w.sent(order)
	w.Mine(1)
	second, _ := w.sent(order)
	w.ExternalSpend(w.hot.Base, pay(w.Named("thief"), 7))
	w.Mine(1)
	if first.Reservations[0] == second.Reservations[0] || w.Balance(w.Named("x"), "") != bursar.Units(2000) {
		t.Errorf("paid %s with claims %q and %q", w.Balance(w.Named("x"), ""), first.Reservations, second.Reservations)
	}
	if f := w.last().ExternalSpends; len(f) != 1 || f[0].Reservations != nil || len(f[0].Payments) != 1 {
		t.Errorf("an external spend: %+v, want 1 of them and nil", f)
	}
}

// A payment whose deposit was spent again by its payer can never be included: the blocks show what funded the deposit
// and what used that, and Expired reports nothing, as no node of a UTXO chain does.
func TestADoubleSpentDepositShowsWhatSpentIt(t *testing.T) {
	t.Parallel()
	w := newHarness(t, sim.Config{Confirmations: 3})
	deposit := w.Pay(pay(w.hot.Base, million))
	w.Mine(1)
	funding := w.last().Funding
	if len(funding) != 1 || funding[0].TxID != deposit || len(funding[0].Inputs) != 1 {
		t.Fatalf("it is funded by %+v, want 1 of them and %v", funding, deposit)
	}
	unsigned, tx := w.sent(w.order(pay(w.Named("x"), 1000)))
	w.Reorg(1, deposit)
	again := w.DoubleSpend(deposit)
	w.Restore(deposit)
	w.watch.Ask(funding[0].Inputs...)
	w.Mine(1)
	if spent := w.last().Spent; w.has(deposit) || len(spent) != 1 ||
		spent[0] != (chain.Spent{Outpoint: funding[0].Inputs[0], TxID: again}) {
		t.Fatalf("it is spent by %+v", spent)
	}
	w.Mine(2)
	if over, err := w.Expired(t.Context(), unsigned, tx.TxID); err != nil || over {
		t.Fatalf("once it is final: %v, %v", over, err)
	}
}
