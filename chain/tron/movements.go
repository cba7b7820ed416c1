package tron

import (
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/bursar/bursar"
)

// movements are the amounts that a block moved to and from some addresses, in TRX or in the tokens of one contract.
type movements struct {
	token   *address
	of      map[address]bool
	in, out map[address]bursar.Amount
}

func (m *movements) move(from, to address, amount bursar.Amount) error {
	return errors.Join(m.add(m.out, from, amount), m.add(m.in, to, amount))
}

func (m *movements) add(side map[address]bursar.Amount, a address, amount bursar.Amount) (err error) {
	if m.of[a] {
		side[a], err = side[a].Add(amount)
	}
	return err
}

func (m *movements) block(b *delivered) error {
	for i := range b.Txs {
		step := m.native
		if m.token != nil {
			step = m.tokens
		}
		if err := step(&b.Txs[i], &b.executions[i]); err != nil {
			return err
		}
	}
	return nil
}

// tokens follows the events of the contract.
func (m *movements) tokens(tx *transaction, e *execution) error {
	if !tx.succeeded() {
		return nil
	}
	for i := range e.Logs {
		log := &e.Logs[i]
		contract, ok := log.contract()
		if !ok || contract != *m.token || len(log.Topics) == 0 || log.Topics[0] != transferTopic {
			continue
		}
		if from, to, amount, ok := log.transfer(); ok {
			if err := m.move(from, to, amount); err != nil {
				return err
			}
		}
	}
	return nil
}

// native follows fees, plain payments, TRX sent along with calls to contracts, and TRX that contracts send.
func (m *movements) native(tx *transaction, e *execution) error {
	fee, err := e.Fee.amount()
	if err != nil {
		return err
	}
	if owner, ok := tx.owner(); ok {
		if err := m.add(m.out, owner, fee); err != nil {
			return err
		}
	}
	if !tx.succeeded() {
		return nil
	}
	v, ok, err := tx.payment()
	if err != nil {
		return err
	}
	if !ok {
		v = tx.callValue()
	}
	amount, err := v.Amount.amount()
	if err != nil {
		return err
	}
	if err := m.move(v.Owner, v.To, amount); err != nil {
		return err
	}
	for i := range e.Internals {
		from, to, amount, err := e.Internals[i].moved()
		if err != nil {
			return err
		}
		if err := m.move(from, to, amount); err != nil {
			return err
		}
	}
	return nil
}

// callValue reads the TRX that comes with a contract call.
func (t *transaction) callValue() transferValue {
	var value struct {
		Owner  address `json:"owner_address"`
		To     address `json:"contract_address"`
		Amount sun     `json:"call_value"`
	}
	if len(t.Raw.Contracts) != 1 || t.Raw.Contracts[0].Type != triggerType ||
		json.Unmarshal(t.Raw.Contracts[0].Parameter.Value, &value) != nil {
		return transferValue{}
	}
	return transferValue{Owner: value.Owner, To: value.To, Amount: value.Amount}
}

// triggerType is the type of a contract call.
const triggerType = "TriggerSmartContract"
