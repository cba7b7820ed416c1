package tron

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// own distinguishes a transaction of ours from one that somebody else made with one of our keys.
//
// An external spend uses no reserved resource: an account's transactions have no sequence number. One that moves
// nothing, such as a change of the account's permissions, is an external spend all the same.
func (c *Chain) own(w *scanner, i int) error {
	tx := &w.Txs[i]
	id := tx.ID.String()
	owner, made := tx.owner()
	if w.watch.Sent(id) {
		fee, err := w.executions[i].Fee.amount()
		if err != nil {
			return fmt.Errorf("fee of %s: %w", id, err)
		}
		delivered := c.paidOut(w, i, owner)
		w.out.Included = append(w.out.Included, chain.Inclusion{
			TxID:      id,
			Failed:    !tx.succeeded(),
			Fee:       fee,
			Delivered: delivered,
		})
		return nil
	}
	base := ""
	if made {
		base = w.pays(owner)
	}
	if base == "" {
		c.taken(w, i, owner)
		return nil
	}
	if tx.outcome() == "" && (tx.calls() || tx.plain()) {
		return fmt.Errorf("%w: contractRet of %s is missing", errPartial, id)
	}
	fee, err := w.executions[i].Fee.amount()
	if err != nil {
		return fmt.Errorf("fee of %s: %w", id, err)
	}
	payments, err := c.outflow(w, i, owner)
	if err != nil {
		return fmt.Errorf("transaction %s: %w", id, err)
	}
	w.out.ExternalSpends = append(w.out.ExternalSpends, chain.ExternalSpend{
		TxID:     id,
		Base:     base,
		Payments: payments,
		Failed:   !tx.succeeded(),
		Fee:      fee,
	})
	return nil
}

// paidOut returns what a transaction of ours paid of the token that it calls, according to the token's own events; nil
// if it calls none. The return value of the call proves nothing: USDT returns false after it has paid (its transfer has
// no return statement).
func (c *Chain) paidOut(w *scanner, i int, from address) []chain.Payment {
	tx := &w.Txs[i]
	if _, listed := c.tokens[tx.callValue().To]; !listed || !tx.succeeded() {
		return nil
	}
	var all chain.Gathered
	c.addTokens(&all, &w.executions[i], from)
	if list := all.List(); list != nil {
		return list
	}
	return []chain.Payment{}
}

// outflow returns what the owner of a transaction moved to other addresses: TRX that it paid or sent along with a call,
// and Transfer events of listed tokens.
func (c *Chain) outflow(w *scanner, i int, from address) ([]chain.Payment, error) {
	tx := &w.Txs[i]
	if !tx.succeeded() {
		return nil, nil
	}
	v, ok, err := tx.payment()
	if err != nil {
		return nil, err
	}
	if !ok {
		v = tx.callValue()
	}
	var all chain.Gathered
	if v.Owner == from && v.To != from {
		amount, err := v.Amount.amount()
		if err != nil {
			return nil, err
		}
		all.Add(chain.Payment{Address: bursar.Address{Base: v.To.String()}, Amount: amount})
	}
	c.addTokens(&all, &w.executions[i], from)
	return all.List(), nil
}

func (c *Chain) addTokens(all *chain.Gathered, e *execution, from address) {
	for place := range e.Logs {
		token, sender, to, amount, ok := c.moved(&e.Logs[place])
		if ok && sender == from && to != from {
			all.Add(chain.Payment{Address: bursar.Address{Base: to.String()}, Contract: token.Contract, Amount: amount})
		}
	}
}

// moved reads a Transfer event of a listed token.
func (c *Chain) moved(log *event) (token Token, from, to address, amount bursar.Amount, ok bool) {
	contract, readable := log.contract()
	token, listed := c.tokens[contract]
	if !readable || !listed || len(log.Topics) == 0 || log.Topics[0] != transferTopic {
		return token, from, to, amount, false
	}
	from, to, amount, ok = log.transfer()
	return token, from, to, amount, ok
}

// taken records tokens that left one of our addresses without a transaction of its key: by an allowance, or by the
// token's issuer. It is an anomaly and not an external spend, because a contract reports it and no signature of ours.
func (c *Chain) taken(w *scanner, i int, owner address) {
	if !w.Txs[i].succeeded() {
		return
	}
	for place := range w.executions[i].Logs {
		token, from, to, amount, ok := c.moved(&w.executions[i].Logs[place])
		if !ok || from == owner || from == to || amount.IsZero() {
			continue
		}
		if base := w.pays(from); base != "" {
			w.out.Anomalies = append(w.out.Anomalies, chain.Anomaly{
				TxID: w.Txs[i].ID.String(), Contract: token.Contract,
				What: fmt.Sprintf("%s of this token went from our address %s to %s without our signature",
					amount.Decimal(token.Decimals, 0), base, to),
			})
		}
	}
}
