package ledger

import (
	"strings"

	"github.com/bursar/bursar"
)

// Part says what a line of a customer's statement is.
type Part string

// The parts of an entry that a customer sees.
const (
	PartAmount Part = "amount" // what was paid, received or set aside
	PartFee    Part = "fee"    // what the operator took or set aside for itself
)

// Movement is what one posting did to a customer: a line of the statement. The sums of Available and of Held over all
// lines of a currency are the balances of the two accounts.
type Movement struct {
	Part       Part
	Available  Balance
	Held       Balance
	Deposit    bursar.ID // the deposit that the line is about; zero for a withdrawal's, and for what a transfer within the service brought
	Withdrawal bursar.ID // the customer's own withdrawal; zero for others
}

// MovementOf returns what a posting did to a customer. place is its place within the entry, from 0. The error is
// bursar.ErrAmountOverflow, which no posting in the books can give.
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
	case KindInternalTransfer:
		if p.Debit == Held(owner) { // of the receiver's lines it is another's withdrawal
			m.Withdrawal = id
		}
	}
	return m, nil
}

// partOf tells a fee by the account that it went to, or, while it is held, by its place behind the amount.
func partOf(kind Kind, place int64, p Posting) Part {
	held := kind == KindWithdrawalHeld || kind == KindWithdrawalRefund || kind == KindUnsettled
	for _, a := range []Account{p.Debit, p.Credit} {
		if a == DepositFees || a == WithdrawalFees || held && place > 0 {
			return PartFee
		}
	}
	return PartAmount
}

// idOf returns the ID that a reference begins with; the zero ID where it does not.
func idOf(ref Ref) bursar.ID {
	text, _, _ := strings.Cut(string(ref), "/")
	id, err := bursar.ParseID(text)
	if err != nil {
		return bursar.ID{}
	}
	return id
}

// TransferOf returns the withdrawal of another account that brought this posting to a customer, of a transfer within
// the service; false for any other posting.
func TransferOf(owner bursar.ID, kind Kind, ref Ref, p Posting) (withdrawal bursar.ID, brought bool) {
	brought = kind == KindInternalTransfer && (p.Credit == Available(owner) || p.Debit == Available(owner))
	return idOf(ref), brought
}

// CustomerKinds are the kinds of entries that may stand in a customer's statement.
func CustomerKinds() []Kind {
	return []Kind{KindDeposit, KindDepositReversed, KindAssigned, KindWithdrawalHeld, KindWithdrawalSettled,
		KindWithdrawalRefund, KindUnsettled,
		KindPayoutShort, KindPayoutShortUndone, KindInternalTransfer}
}

// Running is how a customer's balances run along a statement, by currency.
type Running map[bursar.CurrencyCode]Owned

// Owned is what a customer has in one currency.
type Owned struct{ Available, Held Balance }

// Add applies a movement and returns what the customer then has of its currency. The error is bursar.ErrAmountOverflow,
// which no history of the books can give.
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
