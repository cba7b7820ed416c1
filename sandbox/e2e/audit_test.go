package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"strings"
)

// audit compares everything that was promised with the chains: each withdrawal arrived once and exactly, each
// account's ledger explains its balance, every credit was announced, and what customers own, together with operator
// funds and fees, is what the chains hold.
func (w *harness) audit() {
	w.settle()
	for _, o := range w.requested {
		w.arrived(o)
	}
	w.balanced()
	owed := w.owed(w.announced)
	w.repeated()
	lines := w.reconcile()
	for _, n := range w.networks() {
		w.solvent(n, owed, lines)
	}
}

// owed is what all customers own together, by ledgers that explain it; each account's history is checked elsewhere
// too.
func (w *harness) owed(others ...func(history)) map[*currency]*big.Int {
	w.t.Helper()
	owed := map[*currency]*big.Int{}
	for _, c := range w.currencies {
		owed[c] = new(big.Int)
	}
	for _, a := range []*account{w.a, w.b, w.c} {
		h := w.history(a)
		for _, c := range w.currencies {
			owed[c].Add(owed[c], w.explained(h, c))
		}
		for _, other := range others {
			other(h)
		}
	}
	return owed
}

// settle mines blocks until no outgoing transaction is in progress, and then stops. After a load on a busy machine that
// may take longer than one patience: it waits as long as each round leaves less than the one before.
func (w *harness) settle() {
	w.blocks("manual")
	for last := math.MaxInt; ; {
		w.record() // before it is, what a block pays is in no queue; and what becomes final may begin a sweep
		if w.idle() == nil {
			return
		}
		err := w.persist(w.nothingUnderWay)
		if err == nil {
			continue
		}
		left, counted := w.countUnderWay()
		w.t.Logf("%v: %d are left, %v", err, left, counted)
		if left >= last {
			w.t.Fatalf("no less is in progress than before: %v\n%s", err, w.said())
		}
		last = left
	}
}

// record makes every block that there is final, and waits until the service has recorded them.
func (w *harness) record() {
	chains, err := w.views()
	w.must(err)
	w.mine(untilFinal)
	w.eventually("all blocks are recorded", func() error {
		now, err := w.scrape()
		if err != nil {
			return err
		}
		for _, n := range w.networks() {
			height, err := now.sum(fmt.Sprintf(`bursar_chain_height{chain="%s"}`, n.chain))
			if err != nil {
				return err
			}
			if newest := new(big.Rat).SetUint64(chains[n.chain].Height); height.Cmp(newest) < 0 {
				return fmt.Errorf("%s is recorded up to block %s, want %s", n.chain, height.RatString(), newest.RatString())
			}
		}
		return nil
	})
}

// nothingUnderWay mines a block of each chain and returns an error while any work is in progress.
func (w *harness) nothingUnderWay() error {
	if err := w.everywhere(func(n *network) error { return w.tryMine(n, 1) }); err != nil {
		return err
	}
	return w.idle()
}

// idle returns an error while any work is in progress.
func (w *harness) idle() error {
	now, err := w.scrape()
	if err != nil {
		return err
	}
	if err := now.idle("", "deliveries"); err != nil {
		return err
	}
	for _, n := range w.networks() {
		if err := now.idle(n.chain, queuesOfAChain...); err != nil {
			return err
		}
	}
	return nil
}

var queuesOfAChain = []string{"pending_deposits", "withdrawals", "spends"}

// countUnderWay counts the entries of the service's queues.
func (w *harness) countUnderWay() (left int, err error) {
	now, err := w.scrape()
	if err != nil {
		return 0, err
	}
	count := func(chain, queue string) {
		waiting, failed := now.waiting(chain, queue)
		if err = errors.Join(err, failed); failed == nil {
			left += int(waiting.Num().Int64()) // a queue has a whole number of entries
		}
	}
	count("", "deliveries")
	for _, n := range w.networks() {
		for _, queue := range queuesOfAChain {
			count(n.chain, queue)
		}
	}
	return left, err
}

// arrived checks that the receiver of a withdrawal holds its amount, neither less nor twice.
func (w *harness) arrived(o *withdrawalRequest) {
	w.t.Helper()
	got, err := o.look()
	w.must(err)
	if got.Status != "confirmed" || got.HashID == nil || o.units(got.Amount).Cmp(o.units(o.amount)) != 0 {
		w.t.Fatalf("withdrawal %s of %s %s became %+v", o.key, o.amount, o.code, got)
	}
	if o.inside {
		return // another payment may have gone to the same wallet; the ledgers show it
	}
	if _, err := o.node.raw(w.rpc(o.network), *got.HashID); err != nil {
		w.t.Errorf("withdrawal %s of %s %s was paid by %s: %v", o.key, o.amount, o.code, *got.HashID, err)
	}
	if held := w.onChain(o.currency, o.address); held.Cmp(o.units(o.amount)) != 0 {
		w.t.Errorf("withdrawal %s of %s %s: its receiver holds %v units, want 0", o.key, o.amount, o.code, held)
	}
}

type ledgerLine struct{ Kind, Ref, Currency, Available, Held string }

// history is everything that an account can read.
type history struct {
	*account
	ledger      []ledgerLine
	deposits    []deposit
	summed      map[string]bool // the deposits to charges that add up
	withdrawals []withdrawal
	balances    balances
}

// history reads everything, page by page where there are pages.
func (w *harness) history(a *account) history {
	w.t.Helper()
	h := history{account: a, summed: map[string]bool{}}
	var wallets struct{ Wallets []wallet }
	var charges struct{ Charges []charge }
	w.must(a.call(http.MethodGet, "account/wallets", nil, nil, &wallets))
	w.must(a.call(http.MethodGet, "account/charges", nil, nil, &charges))
	h.withdrawals = w.withdrawals(a)
	for _, l := range wallets.Wallets {
		l.account = a
		list, err := l.deposits()
		w.must(err)
		h.deposits = append(h.deposits, list...)
	}
	for _, k := range charges.Charges {
		for _, id := range k.DepositIDs {
			var found struct{ Deposit deposit }
			w.must(a.call(http.MethodGet, "wallet/deposit", params{"depositID": id}, nil, &found))
			h.deposits = append(h.deposits, found.Deposit)
			if k.Rule == "sum" {
				h.summed[id] = true
			}
		}
	}
	var err error
	h.balances, err = a.balances()
	w.must(err)
	p := params{"limit": "50"}
	for {
		var page struct {
			Ledger     []ledgerLine
			NextCursor string
		}
		w.must(a.call(http.MethodGet, "account/ledger", p, nil, &page))
		if h.ledger = append(h.ledger, page.Ledger...); page.NextCursor == "" {
			return h
		}
		p["cursor"] = page.NextCursor
	}
}

// withdrawals reads every withdrawal of an account, page by page.
func (w *harness) withdrawals(a *account) (all []withdrawal) {
	w.t.Helper()
	p := params{}
	for {
		var page struct {
			Withdrawals []withdrawal
			NextCursor  string
		}
		w.must(a.call(http.MethodGet, "account/withdrawals", p, nil, &page))
		if all = append(all, page.Withdrawals...); page.NextCursor == "" {
			return all
		}
		p["cursor"] = page.NextCursor
	}
}

// explained returns what an account owns by its ledger, which must agree with its deposits and withdrawals to the
// unit and with its balance to the display precision.
func (w *harness) explained(h history, c *currency) *big.Int {
	w.t.Helper()
	available, held := new(big.Int), new(big.Int)
	for _, l := range h.ledger {
		if l.Currency == c.code {
			available.Add(available, c.units(l.Available))
			held.Add(held, c.units(l.Held))
		}
	}
	if events := w.events(h, c); available.Cmp(events) != 0 || held.Sign() != 0 {
		w.t.Errorf("account %s: its ledger of %s has %v and %v held, deposits and withdrawals add up to %v and "+
			"nothing held",
			h.AccountID, c.code, available, held, events)
	}
	b := h.balances
	if shown := c.floor(available); b.Balance[c.code] != shown || c.units(b.Held[c.code]).Sign() != 0 ||
		c.units(b.Pending[c.code]).Sign() != 0 {
		w.t.Errorf("account %s shows %s of %s, %s held and %s pending; its ledger has %s", h.AccountID, b.Balance[c.code],
			c.code, b.Held[c.code], b.Pending[c.code], shown)
	}
	if available.Sign() < 0 {
		w.t.Errorf("account %s owns %v of %s, want at least 0", h.AccountID, available, c.code)
	}
	return available
}

// events is the sum of an account's confirmed deposits less that of its confirmed withdrawals.
func (w *harness) events(h history, c *currency) *big.Int {
	w.t.Helper()
	sum := new(big.Int)
	for _, d := range h.deposits {
		switch {
		case d.Currency != c.code:
		case d.Status == "confirmed":
			sum.Add(sum, c.units(d.Amount)).Sub(sum, c.units(d.Fee))
		case d.Status == "pending":
			w.t.Errorf("deposit %s of %s %s is pending", d.DepositID, d.Amount, d.Currency)
		}
	}
	for _, o := range h.withdrawals {
		if o.Status != "confirmed" {
			w.t.Errorf("withdrawal %s is %s, want %q", o.WithdrawalID, o.Status, "confirmed")
		}
		if o.Currency == c.code {
			sum.Sub(sum, c.units(o.Amount)).Sub(sum, c.units(o.Fee))
		}
	}
	return sum
}

// reconciled is a line of `bursar reconcile`.
type reconciled struct {
	Currency, Custody, OnChain, Liabilities, Missing, Surplus string
	Balanced                                                  bool
}

// balanced waits until the operator's command reports no difference.
func (w *harness) balanced() {
	w.t.Helper()
	w.eventually("the books equal the chains", func() error {
		out, err := w.try("reconcile", "--json")
		if err == nil && !json.Valid(out) {
			err = fmt.Errorf("%s is not JSON", out)
		}
		return err
	})
}

// reconcile is what the operator's command reports about every currency.
func (w *harness) reconcile() map[string]reconciled {
	w.t.Helper()
	var list []reconciled
	w.must(json.Unmarshal(w.run("reconcile", "--json"), &list))
	lines := map[string]reconciled{}
	for _, l := range list {
		if lines[l.Currency] = l; !l.Balanced || strings.Trim(l.Missing+l.Surplus, "0.") != "" {
			w.t.Errorf("reconcile: %+v", l)
		}
	}
	if len(lines) != len(w.currencies) {
		w.t.Errorf("%d currencies are reconciled, want %d", len(lines), len(w.currencies))
	}
	return lines
}
