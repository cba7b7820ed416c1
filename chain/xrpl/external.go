package xrpl

import (
	"slices"
	"strconv"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// own distinguishes a transaction of ours from one that somebody else made with one of our keys, whatever its type: one
// that moves nothing, such as AccountSet, SetRegularKey or SignerListSet, is an external spend too. So is a transaction
// of somebody else that took XRP from one of our accounts, such as the cashing of a check that our key signed.
func (w *scanner) own(tx *transaction) error {
	id := tx.Hash.String()
	if w.watch.Sent(id) {
		w.out.Included = append(w.out.Included, chain.Inclusion{TxID: id, Failed: !tx.succeeded(), Fee: tx.Fee.Amount})
		return nil
	}
	lost := map[string]bursar.Amount{}
	bases := []string{}
	note := func(base string) {
		if !slices.Contains(bases, base) && w.pays(base) {
			bases = append(bases, base)
		}
	}
	note(tx.Account)
	note(tx.feePayer())
	for _, node := range tx.Meta.Nodes {
		base, _, loss, err := w.moved(tx, node)
		if err != nil {
			return err
		}
		if !loss.IsZero() {
			note(base)
			lost[base] = loss
		}
	}
	for _, base := range bases {
		external := chain.ExternalSpend{TxID: id, Base: base, Reservations: tx.reservations(base), Failed: !tx.succeeded()}
		if last := uint64(tx.Last.value); tx.Account == base && last >= w.out.Ref.Height { // others' say nothing of ours
			external.LastHeight = last
		}
		if tx.feePayer() == base {
			external.Fee = tx.Fee.Amount
		}
		if tx.succeeded() {
			external.Payments = tx.outflow(base, lost[base])
		}
		w.out.ExternalSpends = append(w.out.ExternalSpends, external)
	}
	return nil
}

// maxReservations is more than one transaction uses up: a TicketCreate makes 250 tickets at most (XLS-13).
const maxReservations = 1000

// reservations returns the sequences of an account that a transaction used up: those by which the account's next one
// rose, of which a TicketCreate takes several, or the ticket that it used instead of one. A failed transaction uses up
// its own as well.
func (tx *transaction) reservations(base string) (resources []string) {
	if tx.Account != base {
		return nil
	}
	reserve := func(sequence uint32) {
		resources = append(resources, base+"/"+strconv.FormatUint(uint64(sequence), 10))
	}
	first, next := tx.Sequence.value, tx.Sequence.value+1
	for _, node := range tx.Meta.Nodes {
		if after, before := node.account(); string(after.Account) == base && before.Sequence.there && after.Sequence.there {
			first, next = before.Sequence.value, after.Sequence.value
		}
	}
	if tx.Ticket.there {
		reserve(tx.Ticket.value)
		return resources
	}
	for sequence := first; sequence < next && len(resources) < maxReservations && sequence > 0; sequence++ {
		reserve(sequence)
	}
	return resources
}

// outflow returns the accounts that gained an account's loss, in the order of the entries and no more than the loss.
// XRP that went into an escrow, a payment channel or an offer is nobody's gain yet.
func (tx *transaction) outflow(from string, lost bursar.Amount) []chain.Payment {
	var all chain.Gathered
	for _, node := range tx.Meta.Nodes {
		after, before := node.account()
		to := string(after.Account)
		if to == "" || to == from || !after.Balance.there || after.Balance.bad || before.Balance.bad {
			continue
		}
		have := after.Balance.Amount
		if tx.feePayer() == to {
			have, _ = have.Add(tx.Fee.Amount) // the sum is at most all XRP
		}
		gained := have.SubOrZero(before.Balance.Amount)
		if lost.Less(gained) {
			gained = lost
		}
		lost = lost.SubOrZero(gained)
		address := bursar.Address{Base: to}
		address.Memo, address.HasMemo = tx.tagFor(to)
		all.Add(chain.Payment{Address: address, Amount: gained})
	}
	return all.List()
}
