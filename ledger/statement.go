package ledger

import (
	"strings"

	"github.com/bursar/bursar"
)

// Part says which part of an entry a line of a customer's statement shows.
type Part string

// The parts of an entry that a customer sees.
const (
	PartAmount Part = "amount" // what was paid, received or set aside
	PartFee    Part = "fee"    // what the operator took or set aside for itself
)

// Movement is the effect of one posting on a customer: a line of the statement. The sums of Available and of Held over
// all lines of a currency are the balances of the two accounts.
type Movement struct {
	Part       Part
	Available  Balance
	Held       Balance
	Deposit    bursar.ID // the line's deposit; zero for a withdrawal's, and for a received internal transfer
	Withdrawal bursar.ID // the customer's own withdrawal; zero for other lines
}

// MovementOf returns the effect of a posting on a customer. place is the posting's index within the entry, from 0. The
// error is bursar.ErrAmountOverflow, which no posting in the books can cause.
func MovementOf(owner bursar.ID, kind Kind, ref Ref, place int64, p Posting) (Movement, error) {
	m := Movement{Part: partOf(kind, place, p)}
	var err error
	if m.Available, err = m.Available.Apply(Available(owner), p); err != nil {
		return m, err
	}
	if m.Held, err = m.Held.Apply(Held(owner), p); err != nil {
		return m, err
	}
	id := idOf(ref)
	switch kind {
	case KindDeposit, KindDepositReversed, KindAssigned:
		m.Deposit = id
	case KindWithdrawalHeld, KindWithdrawalSettled, KindWithdrawalRefund, KindUnsettled, KindPayoutShort,
		KindPayoutShortUndone:
		m.Withdrawal = id
	case KindInternalTransfer, KindDirectTransfer:
		if p.Debit == Held(owner) || p.Debit == Available(owner) && !brings(owner, p) {
			m.Withdrawal = id // for the receiver it is another account's
		}
	}
	return m, nil
}

// partOf recognises a fee by the account to which it went or, while it is held, by its index after the amount's.
func partOf(kind Kind, place int64, p Posting) Part {
	held := kind == KindWithdrawalHeld || kind == KindWithdrawalRefund || kind == KindUnsettled
	for _, a := range []Account{p.Debit, p.Credit} {
		if a == DepositFees || a == WithdrawalFees || held && place > 0 {
			return PartFee
		}
	}
	return PartAmount
}

// idOf returns the ID with which a reference starts; the zero ID where it starts with none.
func idOf(ref Ref) bursar.ID {
	text, _, _ := strings.Cut(string(ref), "/")
	id, err := bursar.ParseID(text)
	if err != nil {
		return bursar.ID{}
	}
	return id
}

// TransferOf returns the withdrawal of another account that paid this posting to a customer in an internal transfer;
// false for any other posting.
func TransferOf(owner bursar.ID, kind Kind, ref Ref, p Posting) (withdrawal bursar.ID, brought bool) {
	return idOf(ref), (kind == KindInternalTransfer || kind == KindDirectTransfer) && brings(owner, p)
}

// brings reports whether a posting of an internal transfer is the receiver's: what is credited, and the fee of that.
func brings(receiver bursar.ID, p Posting) bool {
	return p.Credit == Available(receiver) || p.Debit == Available(receiver) && p.Credit == DepositFees
}

// CustomerKinds returns the kinds of entries that can appear in a customer's statement.
func CustomerKinds() []Kind {
	return []Kind{KindDeposit, KindDepositReversed, KindAssigned, KindWithdrawalHeld, KindWithdrawalSettled,
		KindWithdrawalRefund, KindUnsettled,
		KindPayoutShort, KindPayoutShortUndone, KindInternalTransfer, KindDirectTransfer}
}

// Running keeps a customer's balances along a statement, by currency.
type Running map[bursar.CurrencyCode]Owned

// Owned is the balance of a customer in one currency, available and held.
type Owned struct{ Available, Held Balance }

// Add applies a movement and returns what the customer then has in its currency. The error is bursar.ErrAmountOverflow,
// which no history of the books can cause.
func (r Running) Add(asset bursar.CurrencyCode, m Movement) (Owned, error) {
	o := r[asset]
	for _, side := range []struct {
		total *Balance
		by    Balance
	}{{&o.Available, m.Available}, {&o.Held, m.Held}} {
		var err error
		if side.total.Debits, err = side.total.Debits.Add(side.by.Debits); err != nil {
			return o, err
		}
		if side.total.Credits, err = side.total.Credits.Add(side.by.Credits); err != nil {
			return o, err
		}
	}
	r[asset] = o
	return o, nil
}
