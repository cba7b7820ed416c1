package e2e

import (
	"bytes"
	"fmt"
	"math/big"
	"net/http"
)

// announced checks that every credit, and every reversal, of an account reached the hook: at least once, under one id
// for each of them, always with the same body, and signed; and that nothing else did.
func (w *harness) announced(h history) {
	w.t.Helper()
	credits, reversals := map[string]map[string]bool{},
		map[string]map[string]bool{} // ids of accepted events, by deposit
	words := map[string][]byte{}
	for _, d := range w.hook.taken() {
		e := d.event.Response.Webhook
		if e.AccountID != h.AccountID {
			continue
		}
		if err := h.verify(d); err != nil {
			w.t.Error(err)
		}
		if first, again := words[d.id]; again && !bytes.Equal(first, d.body) {
			w.t.Errorf("event %s was sent as %s and as %s", d.id, first, d.body)
		}
		if words[d.id] = d.body; e.Deposit == nil || d.status != http.StatusNoContent {
			continue
		}
		ids := credits
		if e.Event == "deposit_reversed" {
			ids = reversals
		}
		if ids[e.Deposit.DepositID] == nil {
			ids[e.Deposit.DepositID] = map[string]bool{}
		}
		ids[e.Deposit.DepositID][d.id] = true
	}
	for _, d := range h.deposits {
		if d.Webhook == w.builtIn || h.summed[d.DepositID] {
			continue // announced elsewhere, or by events about its charge
		}
		standing := 0
		if d.Status == "confirmed" {
			standing = 1
		}
		if got, want := len(credits[d.DepositID]), len(reversals[d.DepositID])+standing; got != want {
			w.t.Errorf("deposit %s of %s %s, %s, was announced as %d credits and %d reversals, want %v", d.DepositID, d.Amount,
				d.Currency, d.Status, got, want-standing, want)
		}
		delete(credits, d.DepositID)
	}
	for id := range credits {
		w.t.Errorf("deposit %s, which no account has, was announced", id)
	}
}

// repeated checks that failures of the receiver were made up for: whatever it refused at first was sent again.
func (w *harness) repeated() {
	w.t.Helper()
	again := 0
	for _, tries := range w.hook.attempts() {
		if tries > 1 {
			again++
		}
	}
	if again < failing {
		w.t.Errorf("%d events were sent again, %d failed at first", again, failing)
	}
}

// solvent compares a network with the books: the service's addresses hold the customers' balances, operator funds,
// the fees that were charged less those that the network took, and unattributed deposits; and the service reports the
// same.
func (w *harness) solvent(n *network, owed map[*currency]*big.Int, lines map[string]reconciled) {
	w.t.Helper()
	view := w.view(n)
	ours := map[string]bool{view.Hot: true}
	for _, address := range w.ours[n] {
		ours[address] = true
	}
	for _, c := range w.that(func(c *currency) bool { return c.network == n }) {
		lies := new(big.Int)
		for address := range ours {
			lies.Add(lies, w.onChain(c, address))
		}
		taken, took := w.feesTaken(c), new(big.Int)
		owes := new(big.Int).Add(owed[c], w.small[c])
		owes.Add(owes, w.stray[c])
		books := new(big.Int).Add(owes, taken)
		if !c.token {
			var err error
			took, err = w.networkFees(n, view.Height, ours)
			w.must(err)
			books.Sub(books, took)
		}
		if !c.token && !c.memo {
			books.Add(books, c.units(c.operatorFunds)) // unattributed where addresses are shared
		}
		if books.Cmp(lies) != 0 {
			w.t.Errorf("%s: the books say %v, the chain %v: %v too much, want 0", c.code, books, lies,
				new(big.Int).Sub(books, lies))
		}
		l := lines[c.code]
		if c.units(l.Custody).Cmp(lies) != 0 || c.units(l.OnChain).Cmp(lies) != 0 || c.units(l.Liabilities).Cmp(owes) != 0 {
			w.t.Errorf("%s: the service reports %+v; the chain holds %v, customers own %v, want 0", c.code, l, lies, owes)
		}
		w.t.Logf("%-10s %v units at %d addresses, as in the books; the network took %v, customers paid "+
			"%v", c.code, lies,
			len(ours), took, taken)
	}
}

// feesTaken is what customers paid for their withdrawals.
func (w *harness) feesTaken(c *currency) *big.Int {
	w.t.Helper()
	sum := new(big.Int)
	for _, o := range w.requested {
		if o.currency == c {
			got, err := o.look()
			w.must(err)
			sum.Add(sum, c.units(got.Fee))
		}
	}
	return sum
}

// networkFees reads from the node, as any client would, the fees of transactions from the service's addresses.
func (w *harness) networkFees(n *network, height uint64, ours map[string]bool) (*big.Int, error) {
	sum := new(big.Int)
	for at := uint64(1); at <= height; at++ {
		fees, err := n.node.fees(w.rpc(n), at, ours)
		if err != nil {
			return nil, fmt.Errorf("block %d of %s: %w", at, n.chain, err)
		}
		sum.Add(sum, fees)
	}
	return sum, nil
}
