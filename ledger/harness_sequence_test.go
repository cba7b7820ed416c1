package ledger_test

import (
	"errors"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// harness posts random business events as the service does and keeps a second, naive count beside the books.
type harness struct {
	books     ledger.Books
	accounts  []bursar.ID
	chain     bursar.Amount // what the final chain holds for us, counted naively
	next      byte
	confirmed []bursar.Deposit
	held      []bursar.Withdrawal
	ended     []bursar.Withdrawal
	rounds    map[bursar.ID]int // how often each was reopened
	posted    map[string]bool
	operator  naive
}

func (w *harness) id() bursar.ID {
	w.next++
	return bursar.ID{15: w.next, 14: byte(len(w.posted)), 13: byte(len(w.posted) >> 8)}
}

func (w *harness) post(t *rapid.T, e ledger.Entry) error {
	name := string(e.Kind) + "|" + string(e.Ref)
	if w.posted[name] {
		t.Fatalf("two entries are named %s", name)
	}
	err := w.books.Post(e)
	if err == nil {
		w.posted[name] = true
	}
	return err
}

func (w *harness) must(t *rapid.T, e ledger.Entry) {
	if err := w.post(t, e); err != nil {
		t.Fatalf("post %s: %v", e.Kind, err)
	}
}

func amount(t *rapid.T, name string) bursar.Amount {
	return bursar.Units(rapid.Uint64Range(1, 1_000_000).Draw(t, name))
}

func (w *harness) add(t *rapid.T, a bursar.Amount) {
	sum, err := w.chain.Add(a)
	if err != nil {
		t.Fatal(err)
	}
	w.chain = sum
}

func (w *harness) sub(t *rapid.T, a bursar.Amount) {
	rest, err := w.chain.Sub(a)
	if err != nil {
		t.Fatalf("the chain paid out more than it held: %v", err)
	}
	w.chain = rest
}

var at = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func (w *harness) deposit(t *rapid.T) {
	d := bursar.Deposit{ID: w.id(), Purpose: bursar.ForWallet, Currency: "BTC", Amount: amount(t, "deposit"),
		AccountID: rapid.SampledFrom(w.accounts).Draw(t, "account")}
	d.Fee, _ = d.Amount.PPM(rapid.Uint32Range(0, 1_000_000).Draw(t, "fee"))
	w.must(t, ledger.DepositCredited(d, at))
	w.add(t, d.Amount)
	w.confirmed = append(w.confirmed, d)
}

// reverse reverses a credited deposit that the chain still holds, and may credit it again.
func (w *harness) reverse(t *rapid.T) {
	if len(w.confirmed) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.confirmed)-1).Draw(t, "which")
	d := w.confirmed[i]
	if w.chain.Less(d.Amount) {
		return
	}
	w.must(t, ledger.DepositReversed(d, at))
	w.sub(t, d.Amount)
	w.confirmed = append(w.confirmed[:i], w.confirmed[i+1:]...)
	if rapid.Bool().Draw(t, "comes back") {
		d.Reversals++
		w.must(t, ledger.DepositCredited(d, at))
		w.add(t, d.Amount)
		w.confirmed = append(w.confirmed, d)
	}
}

func (w *harness) arrive(t *rapid.T) {
	d := bursar.Deposit{ID: w.id(), Currency: "BTC", Amount: amount(t, "deposit"),
		Purpose: rapid.SampledFrom([]bursar.DepositPurpose{bursar.ForOperatorFunds, bursar.ForUnattributed,
			bursar.ForWallet}).Draw(t, "purpose")}
	w.must(t, ledger.TransferReceived(d, ledger.Owner(d), at))
	w.add(t, d.Amount)
	switch {
	case rapid.Bool().Draw(t, "reversed"):
		w.must(t, ledger.TransferReversed(d, ledger.Owner(d), at))
		w.sub(t, d.Amount)
	case d.Purpose == bursar.ForUnattributed:
		w.decide(t, d)
	}
}

func (w *harness) hold(t *rapid.T) {
	order := bursar.Withdrawal{ID: w.id(), Currency: "BTC", Amount: amount(t, "withdrawal"),
		Fee:       bursar.Units(rapid.Uint64Range(0, 99).Draw(t, "fee")),
		AccountID: rapid.SampledFrom(w.accounts).Draw(t, "account")}
	before := w.books[ledger.Key{Account: ledger.Available(order.AccountID), Asset: "BTC"}]
	total, _ := order.Amount.Add(order.Fee)
	have, negative := before.Net(ledger.Liability)
	direct := false
	entry := ledger.WithdrawalHeld(order, at)
	if to := rapid.SampledFrom(w.accounts).Draw(t, "to"); to != order.AccountID {
		if direct = rapid.Bool().Draw(t, "direct"); direct {
			entry = ledger.DirectTransfer(order, to, bursar.Units(1), at)
		}
	}
	err := w.post(t, entry)
	if affordable := !negative && !have.Less(total); affordable != (err == nil) {
		t.Fatalf("a balance of %s (negative %v) and a withdrawal of %s gave %v", have, negative, total, err)
	}
	if err == nil && !direct {
		w.held = append(w.held, order)
	} else if err != nil && !errors.Is(err, ledger.ErrInsufficient) {
		t.Fatal(err)
	}
}

func (w *harness) finish(t *rapid.T) {
	if len(w.held) == 0 {
		return
	}
	order := w.held[0]
	w.held = w.held[1:]
	fee := bursar.Units(rapid.Uint64Range(0, 50).Draw(t, "network fee"))
	out, _ := order.Amount.Add(fee)
	switch rapid.IntRange(0, 2).Draw(t, "end") {
	case 0:
		w.must(t, ledger.WithdrawalRefunded(order, w.rounds[order.ID], at))
		w.end(order, bursar.WithdrawalFailed)
	case 1:
		w.must(t, ledger.InternalTransfer(order, rapid.SampledFrom(w.accounts).Draw(t, "receiver"), bursar.Units(1), at))
	default:
		if w.chain.Less(out) {
			w.must(t, ledger.WithdrawalRefunded(order, w.rounds[order.ID], at))
			w.end(order, bursar.WithdrawalFailed)
			return
		}
		w.must(t, ledger.WithdrawalSettled(order, w.rounds[order.ID], at))
		w.sub(t, order.Amount)
		w.end(order, bursar.WithdrawalConfirmed)
		if fee.IsZero() {
			return
		}
		ref := ledger.FeeRef(bursar.Bitcoin, order.ID.String())
		w.must(t, ledger.NetworkFee(ref, w.rounds[order.ID], "BTC", fee, at))
		w.sub(t, fee)
		if rapid.Bool().Draw(t, "fee reversed") {
			w.must(t, ledger.NetworkFeeReversed(ref, w.rounds[order.ID]+1, "BTC", fee, at))
			w.add(t, fee)
		}
	}
}

func (w *harness) end(order bursar.Withdrawal, status bursar.WithdrawalStatus) {
	order.Status = status
	w.ended = append(w.ended, order)
}

// reopen unsettles a withdrawal, as a deep reorganisation does.
func (w *harness) reopen(t *rapid.T) {
	if len(w.ended) == 0 {
		return
	}
	order := w.ended[0]
	w.ended = w.ended[1:]
	w.rounds[order.ID]++
	w.must(t, ledger.WithdrawalUnsettled(order, w.rounds[order.ID], at))
	if order.Status == bursar.WithdrawalConfirmed {
		w.add(t, order.Amount)
	}
	w.held = append(w.held, order)
}

// check checks the invariants of the books: debits equal credits, custody is what the chain holds, and no customer is
// below zero unless a deposit was reversed.
func (w *harness) check(t *rapid.T) {
	var debits, credits bursar.Amount
	for _, b := range w.books {
		debits, _ = debits.Add(b.Debits)
		credits, _ = credits.Add(b.Credits)
	}
	if debits != credits {
		t.Fatalf("debits %s, credits %s", debits, credits)
	}
	custody, negative := w.books[ledger.Key{Account: ledger.Custody, Asset: "BTC"}].Net(ledger.Asset)
	if negative || custody != w.chain {
		t.Fatalf("custody is %s (negative %v), the chain holds %s", custody, negative, w.chain)
	}
	w.operator.check(t, w.books)
	reversed := w.posted != nil && anyReversed(w.posted)
	for k, b := range w.books {
		if _, isCustomer := k.Account.Customer(); isCustomer && !reversed {
			if amount, negative := b.Net(ledger.Liability); negative {
				t.Fatalf("%s is below zero by %s", k.Account, amount)
			}
		}
	}
}

func anyReversed(posted map[string]bool) bool {
	for name := range posted {
		for _, kind := range []ledger.Kind{ledger.KindDepositReversed, ledger.KindUnsettled} {
			if strings.HasPrefix(name, string(kind)) {
				return true
			}
		}
	}
	return false
}
