package chain

import (
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
)

// Shortfall is what an included transaction left undone of one token payment.
type Shortfall struct {
	Delivered bursar.Amount // what its receiver got, less than was ordered
	Elsewhere bursar.Amount // what the transaction moved of the token to nobody of the order, where the receiver got nothing
}

// Shortfalls compares what an order's payments are with what the transaction delivered (Inclusion.Delivered, as JSON;
// empty: all of it). It returns the shortfalls by the payments' places. A payment of the native asset has none, nor has
// a receiver who got more.
func Shortfalls(payments []Payment, delivered []byte) (map[int]Shortfall, error) {
	if len(delivered) == 0 {
		return nil, nil
	}
	var moved []Payment
	if err := json.Unmarshal(delivered, &moved); err != nil {
		return nil, fmt.Errorf("read what was delivered: %w", err)
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
		for j := range moved { // one payment bears what went elsewhere
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

// Gone says what left the payer of a token payment that is the only one of its transaction, and what of that its
// receiver did not get. A contract that moved nothing, though the transaction succeeded, took nothing: the payer has it
// still. Of one that moved something to others alone, no more than the payment is believed.
func Gone(payment Payment, delivered []byte) (gone, lost bursar.Amount, err error) {
	short, err := Shortfalls([]Payment{payment}, delivered)
	s, is := short[0]
	switch {
	case err != nil || !is:
		return payment.Amount, bursar.Amount{}, err
	case !s.Delivered.IsZero():
		return payment.Amount, payment.Amount.SubOrZero(s.Delivered), nil
	case payment.Amount.Less(s.Elsewhere):
		return payment.Amount, payment.Amount, nil
	}
	return s.Elsewhere, s.Elsewhere, nil
}

// takeFrom takes what a payment asks for out of what its receiver got, and returns that.
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

// PaymentTo returns the order's payment of an amount to an address, with its contract.
func (o TxRequest) PaymentTo(to bursar.Address, amount bursar.Amount) (Payment, bool) {
	for _, p := range o.Payments {
		if p.Address == to && p.Amount == amount {
			return p, true
		}
	}
	return Payment{}, false
}

// EncodeDelivered writes what an inclusion delivered in the form that Shortfalls reads.
func EncodeDelivered(in Inclusion) ([]byte, error) {
	if in.Delivered == nil {
		return nil, nil
	}
	text, err := json.Marshal(in.Delivered)
	if err != nil {
		return nil, fmt.Errorf("write what was delivered: %w", err)
	}
	return text, nil
}
