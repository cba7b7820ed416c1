package e2e

import (
	"fmt"
	"math/big"
	"net/http"
	"strings"
)

// audit holds everything that was promised against the chains: each withdrawal arrived once and exactly, each account's
// ledger explains its balance, and what customers own, with the operator's capital and fees, is what lies on the chain.
func (w *world) audit() {
	w.blocks("manual")
	for _, o := range w.orders {
		w.arrived(o)
	}
	for _, currency := range currencies {
		owned := new(big.Int)
		for _, a := range []*account{w.a, w.b, w.c} {
			owned.Add(owned, w.explained(a, currency))
		}
		w.solvent(currency, owned)
	}
	w.t.Logf("reconcile says:\n%s", w.run("reconcile"))
}

// arrived checks that the receiver of a withdrawal holds its amount, neither less nor twice.
func (w *world) arrived(o *order) {
	w.t.Helper()
	if o.inside {
		return // another payment may have gone to the same wallet; the ledgers tell
	}
	held, err := w.onChain(o.currency, o.address)
	w.must(err)
	if units(o.currency, held).Cmp(units(o.currency, o.amount)) != 0 {
		w.t.Errorf("order %s of %s %s: its receiver holds %s", o.key, o.amount, o.currency, held)
	}
}

type ledgerLine struct{ Kind, Ref, Currency, Available, Held string }

// ledger reads all of an account's ledger, page by page.
func (a *account) ledger() ([]ledgerLine, error) {
	var all []ledgerLine
	p := params{"limit": "50"}
	for {
		var page struct {
			Ledger     []ledgerLine
			NextCursor string
		}
		if err := a.call(http.MethodGet, "account/ledger", p, nil, &page); err != nil {
			return nil, err
		}
		if all = append(all, page.Ledger...); page.NextCursor == "" {
			return all, nil
		}
		p["cursor"] = page.NextCursor
	}
}

// explained returns what an account owns by its ledger, which must agree with its deposits and withdrawals to the unit and
// with its balance to the places shown.
func (w *world) explained(a *account, currency string) *big.Int {
	w.t.Helper()
	lines, err := a.ledger()
	w.must(err)
	available, held := new(big.Int), new(big.Int)
	for _, l := range lines {
		if l.Currency == currency {
			available.Add(available, units(currency, l.Available))
			held.Add(held, units(currency, l.Held))
		}
	}
	if events := w.events(a, currency); available.Cmp(events) != 0 || held.Sign() != 0 {
		w.t.Errorf("account %s: its ledger of %s has %v and %v held, deposits and withdrawals make %v and nothing", a.AccountID, currency, available, held, events)
	}
	b, err := a.balances()
	w.must(err)
	if shown := floor(currency, available); b.Balance[currency] != shown || units(currency, b.Held[currency]).Sign() != 0 || units(currency, b.Pending[currency]).Sign() != 0 {
		w.t.Errorf("account %s shows %s of %s, %s held and %s pending; its ledger has %s", a.AccountID, b.Balance[currency], currency, b.Held[currency], b.Pending[currency], shown)
	}
	return available
}

// floor writes an amount with eight places, as balances of both currencies are.
func floor(currency string, amount *big.Int) string {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals[currency]-8)), nil)
	text := new(big.Int).Quo(amount, unit).String()
	text = strings.Repeat("0", max(0, 9-len(text))) + text
	return text[:len(text)-8] + "." + text[len(text)-8:]
}

// events is what an account's confirmed deposits brought and its confirmed withdrawals took.
func (w *world) events(a *account, currency string) *big.Int {
	w.t.Helper()
	sum := new(big.Int)
	var wallets struct{ Wallets []wallet }
	var charges struct{ Charges []charge }
	var withdrawals struct{ Withdrawals []withdrawal }
	w.must(a.call(http.MethodGet, "account/wallets", nil, nil, &wallets))
	w.must(a.call(http.MethodGet, "account/charges", nil, nil, &charges))
	w.must(a.call(http.MethodGet, "account/withdrawals", nil, nil, &withdrawals))
	var deposits []deposit
	for _, l := range wallets.Wallets {
		l.account = a
		list, err := l.deposits()
		w.must(err)
		deposits = append(deposits, list...)
	}
	for _, c := range charges.Charges {
		for _, id := range c.DepositIDs {
			var found struct{ Deposit deposit }
			w.must(a.call(http.MethodGet, "wallet/deposit", params{"depositID": id}, nil, &found))
			deposits = append(deposits, found.Deposit)
		}
	}
	for _, d := range deposits {
		if d.Currency == currency && d.Status == "confirmed" {
			sum.Add(sum, units(currency, d.Amount)).Sub(sum, units(currency, d.Fee))
		}
	}
	for _, o := range withdrawals.Withdrawals {
		if o.Status != "confirmed" {
			w.t.Errorf("withdrawal %s is %s", o.WithdrawalID, o.Status)
		}
		if o.Currency == currency {
			sum.Sub(sum, units(currency, o.Amount)).Sub(sum, units(currency, o.Fee))
		}
	}
	return sum
}

// capital is what the sandbox pays in for the operator.
var capital = map[string]string{"BTC": "5", "ETH": "50"}

// solvent compares the chain with the books: what lies at our addresses is the customers', the operator's capital, the fees
// that were taken less those that the network took, and deposits too small to be anybody's.
func (w *world) solvent(currency string, owned *big.Int) {
	w.t.Helper()
	view, err := w.chain(currency)
	w.must(err)
	ours := append([]string{view.Hot}, w.ours[currency]...)
	lies := new(big.Int)
	for _, address := range ours {
		held, err := w.onChain(currency, address)
		w.must(err)
		lies.Add(lies, units(currency, held))
	}
	network, err := w.networkFees(currency, ours)
	w.must(err)
	books := new(big.Int).Add(owned, units(currency, capital[currency]))
	books.Add(books, w.feesTaken(currency)).Sub(books, network).Add(books, units(currency, w.small[currency]))
	if books.Cmp(lies) != 0 {
		w.t.Errorf("%s: the books say %v, the chain %v: %v too much", currency, books, lies, new(big.Int).Sub(books, lies))
	}
	w.t.Logf("%s: %v on the chain at %d addresses, as in the books; the network took %v, customers paid %v", currency, lies, len(ours), network, w.feesTaken(currency))
}

// feesTaken is what customers paid for their withdrawals.
func (w *world) feesTaken(currency string) *big.Int {
	w.t.Helper()
	sum := new(big.Int)
	for _, o := range w.orders {
		if o.currency != currency {
			continue
		}
		got, err := o.look()
		w.must(err)
		if got.Amount == "" || units(currency, got.Amount).Cmp(units(currency, o.amount)) != 0 {
			w.t.Errorf("order of %s became a withdrawal of %s", o.amount, got.Amount)
		}
		sum.Add(sum, units(currency, got.Fee))
	}
	return sum
}

// networkFees asks the node, as any client would, what transactions from our addresses have cost.
func (w *world) networkFees(currency string, ours []string) (*big.Int, error) {
	view, err := w.chain(currency)
	if err != nil {
		return nil, err
	}
	node := rpcNode{w.box.Chains[chainOf[currency]].RPC}
	mine := map[string]bool{}
	for _, address := range ours {
		mine[strings.ToLower(address)] = true
	}
	sum := new(big.Int)
	for height := uint64(1); height <= view.Height; height++ {
		scan := node.bitcoinFees
		if currency == "ETH" {
			scan = node.ethereumFees
		}
		fees, err := scan(height, mine)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", height, err)
		}
		sum.Add(sum, fees)
	}
	return sum, nil
}
