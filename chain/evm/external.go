package evm

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// sent distinguishes a transaction of ours from one that somebody else made with one of our keys. frames are those of
// the transaction and of the following ones.
func (w *scanner) sent(i int, frames []frame) {
	tx, r := &w.Txs[i], &w.receipts[i]
	id := tx.Hash.String()
	if w.watch.Sent(id) {
		w.out.Included = append(w.out.Included, chain.Inclusion{
			TxID: id, Failed: !r.succeeded(), Fee: r.fee(), Delivered: w.paidOut(i),
		})
		return
	}
	if base := w.pays(tx.From); base != "" {
		w.out.ExternalSpends = append(w.out.ExternalSpends, chain.ExternalSpend{
			TxID: id, Base: base, Reservations: w.resources(i, tx.From, base),
			Payments: w.outflow(i, tx.From, framesOf(i, frames)),
			Failed:   !r.succeeded(), Fee: r.fee(), Delegates: w.delegates(i),
		})
	}
	w.delegated(i, framesOf(i, frames))
	w.takenFromCold(i, framesOf(i, frames))
	w.taken(i)
}

func framesOf(i int, frames []frame) []frame {
	n := 0
	for n < len(frames) && frames[n].tx == i {
		n++
	}
	return frames[:n]
}

// paidOut returns what a transaction of ours paid of the token that it calls, according to the token's own events. It
// is nil if the transaction calls no token: a successful payment of the native asset pays its own value.
//
// The return value of the call proves nothing: some tokens return nothing, and USDT on Tron returns false after it has
// paid.
func (w *scanner) paidOut(i int) []chain.Payment {
	tx := &w.Txs[i]
	if _, listed := w.tokens[tx.To.address]; !listed || !tx.To.set || !w.receipts[i].succeeded() {
		return nil
	}
	var all chain.Gathered
	w.addTokens(&all, i, tx.From)
	if list := all.List(); list != nil {
		return list
	}
	return []chain.Payment{}
}

// outflow returns what a transaction moved from an address to other addresses: its own value if the address sent it,
// value that code of the address sent, and Transfer events of listed tokens.
func (w *scanner) outflow(i int, from address, frames []frame) []chain.Payment {
	if !w.receipts[i].succeeded() {
		return nil
	}
	var all chain.Gathered
	if own, pays := w.own(i); pays && own.from == from {
		all.Add(chain.Payment{Address: bursar.Address{Base: own.to.String()}, Amount: own.value})
	}
	for _, f := range frames {
		if f.from == from && f.to != from {
			all.Add(chain.Payment{Address: bursar.Address{Base: f.to.String()}, Amount: f.value})
		}
	}
	w.addTokens(&all, i, from)
	return all.List()
}

func (w *scanner) addTokens(all *chain.Gathered, i int, from address) {
	for _, e := range w.receipts[i].tokens {
		if !e.anomaly && e.from == from && e.to != from {
			all.Add(chain.Payment{Address: bursar.Address{Base: e.to.String()}, Contract: e.contract.String(), Amount: e.amount})
		}
	}
}

// resources returns the nonces of an address that a transaction used: its own, even if it failed, and those of the
// authorizations that the address signed (EIP-7702).
func (w *scanner) resources(i int, of address, base string) (resources []string) {
	reserve := func(nonce uint64) { resources = append(resources, base+"/"+strconv.FormatUint(nonce, 10)) }
	tx := &w.Txs[i]
	if tx.From == of {
		reserve(uint64(tx.Nonce))
	}
	for _, a := range tx.authorities() {
		if a.address == of {
			reserve(a.nonce)
		}
	}
	return resources
}

// delegated records what happened to our addresses in a transaction that somebody else sent: an authorization that our
// key signed, or value that left one of our addresses through code that such an authorization set there.
func (w *scanner) delegated(i int, frames []frame) {
	sender := w.Txs[i].From
	var found []address
	note := func(a address) {
		for _, known := range found {
			if known == a {
				return
			}
		}
		if a != sender && w.pays(a) != "" {
			found = append(found, a)
		}
	}
	for _, a := range w.Txs[i].authorities() {
		note(a.address)
	}
	for _, f := range frames {
		if f.from != f.to {
			note(f.from)
		}
	}
	for _, a := range found {
		base := w.pays(a)
		w.out.ExternalSpends = append(w.out.ExternalSpends, chain.ExternalSpend{
			TxID: w.Txs[i].Hash.String(), Base: base, Reservations: w.resources(i, a, base), Payments: w.outflow(i, a, frames),
			Failed: !w.receipts[i].succeeded(), Delegates: w.delegates(i),
		})
	}
}

// delegates reports whether a key of ours signed an authorization of a transaction. A revert of the transaction leaves
// the code that it sets (go-ethereum 1.17.10, core/state_transition.go: executeCall applies the authorizations before
// the call that is reverted).
func (w *scanner) delegates(i int) bool {
	return slices.ContainsFunc(w.Txs[i].authorities(), func(a authority) bool { return w.pays(a.address) != "" })
}

// takenFromCold records tokens that left a cold wallet in a transaction of another sender as an external spend of it: a
// contract such as a Safe has no key, so that no transaction is its own.
func (w *scanner) takenFromCold(i int, frames []frame) {
	if !chain.HasCold(w.watch) || !w.receipts[i].succeeded() {
		return
	}
	for _, e := range w.receipts[i].tokens {
		if e.anomaly || e.from == w.Txs[i].From || e.from == e.to || e.amount.IsZero() {
			continue
		}
		base := e.from.String()
		if !chain.IsCold(w.watch, base) || w.reported(i, base) {
			continue
		}
		w.out.ExternalSpends = append(w.out.ExternalSpends, chain.ExternalSpend{
			TxID: w.Txs[i].Hash.String(), Base: base, Payments: w.outflow(i, e.from, frames),
		})
	}
}

// taken records tokens that left one of our addresses without a transaction of its key: by an allowance, or by the
// token's issuer. It is an anomaly and not an external spend, because a contract reports it and no signature of ours.
func (w *scanner) taken(i int) {
	for _, e := range w.receipts[i].tokens {
		if e.anomaly || e.from == w.Txs[i].From || e.from == e.to || e.amount.IsZero() {
			continue
		}
		base := w.pays(e.from)
		if base == "" || w.reported(i, base) {
			continue
		}
		w.out.Anomalies = append(w.out.Anomalies, chain.Anomaly{
			TxID: w.Txs[i].Hash.String(), Contract: e.contract.String(),
			What: fmt.Sprintf("%s of this token went from our address %s to %s without our signature",
				e.amount.Decimal(w.tokens[e.contract].Decimals, 0), base, e.to),
		})
	}
}

// reported reports whether a transaction is already recorded as an external spend of an address.
func (w *scanner) reported(i int, base string) bool {
	id := w.Txs[i].Hash.String()
	for n := len(w.out.ExternalSpends) - 1; n >= 0 && w.out.ExternalSpends[n].TxID == id; n-- {
		if w.out.ExternalSpends[n].Base == base {
			return true
		}
	}
	return false
}
