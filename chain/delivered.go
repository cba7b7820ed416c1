package chain

import (
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
)

// Shortfall says by how much an included transaction fell short of one token payment.
type Shortfall struct {
	Delivered bursar.Amount // what the receiver got, less than the payment's amount
	// Elsewhere is how much of the token moved to addresses that the request does not pay, where the receiver got nothing.
	Elsewhere bursar.Amount
}

// Shortfalls compares the payments of a transaction request with what the transaction delivered (Inclusion.Delivered,
// as JSON; empty: everything). It returns the shortfalls by the payments' positions. A payment of the native asset has
// none, nor has one whose receiver got more.
func Shortfalls(payments []Payment, delivered []byte) (map[int]Shortfall, error) {
	if len(delivered) == 0 {
		return nil, nil
	}
	var moved []Payment
	if err := json.Unmarshal(delivered, &moved); err != nil {
		return nil, fmt.Errorf("decode delivered payments: %w", err)
	}
	short := map[int]Shortfall{}
	for i, p := range payments {
		if p.Contract == "" {
			continue
		}
		if got := takeFrom(moved, p); got.Less(p.Amount) {
			short[i] = Shortfall{Delivered: got}
		}
	}
	for i, s := range short {
		if !s.Delivered.IsZero() {
			continue
		}
		for j := range moved { // the first payment accounts for all that went elsewhere
			if moved[j].Contract != payments[i].Contract {
				continue
			}
			var err error
			if s.Elsewhere, err = s.Elsewhere.Add(moved[j].Amount); err != nil {
				return nil, err
			}
			moved[j].Amount = bursar.Amount{}
		}
		short[i] = s
	}
	return short, nil
}

// DebitedAndLost returns how much left the payer of a token payment that is the only one of its transaction, and how
// much of that the receiver did not get. A contract that moved nothing, although the transaction succeeded, took
// nothing: the payer still has it. Where a contract paid only others, at most the payment's amount is taken as gone.
func DebitedAndLost(payment Payment, delivered []byte) (gone, lost bursar.Amount, err error) {
	short, err := Shortfalls([]Payment{payment}, delivered)
	s, is := short[0]
	switch {
	case err != nil || !is:
		return payment.Amount, bursar.Amount{}, err
	}
	gone = s.Gone(payment)
	return gone, gone.SubOrZero(s.Delivered), nil
}

// Gone returns how much of a token payment that fell short left the payer: all of it where the receiver got something,
// and otherwise what moved elsewhere, at most the payment's amount.
func (s Shortfall) Gone(payment Payment) bursar.Amount {
	if !s.Delivered.IsZero() {
		return payment.Amount
	}
	return payment.Amount.Min(s.Elsewhere)
}

// takeFrom takes at most a payment's amount out of what its receiver got, and returns how much it took.
func takeFrom(moved []Payment, p Payment) (got bursar.Amount) {
	for j := range moved {
		if moved[j].Contract != p.Contract || moved[j].Address.Base != p.Address.Base {
			continue
		}
		part := p.Amount.SubOrZero(got)
		if moved[j].Amount.Less(part) {
			part = moved[j].Amount
		}
		got, _ = got.Add(part) // no more than p.Amount
		moved[j].Amount = moved[j].Amount.SubOrZero(part)
	}
	return got
}

// PaymentTo returns the request's payment of an amount to an address, with its contract.
func (r TxRequest) PaymentTo(to bursar.Address, amount bursar.Amount) (Payment, bool) {
	for _, p := range r.Payments {
		if p.Address == to && p.Amount == amount {
			return p, true
		}
	}
	return Payment{}, false
}

// EncodeDelivered encodes what an inclusion delivered in the form that Shortfalls reads: JSON, or nil where Delivered
// is nil.
func EncodeDelivered(in Inclusion) ([]byte, error) {
	if in.Delivered == nil {
		return nil, nil
	}
	text, err := json.Marshal(in.Delivered)
	if err != nil {
		return nil, fmt.Errorf("encode delivered payments: %w", err)
	}
	return text, nil
}
