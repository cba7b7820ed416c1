package tron

import (
	"encoding/hex"
	"errors"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/vm"
)

// machine opens a copy of the view's state that is discarded afterwards.
func (q *query) machine() (*machine, error) {
	st, err := q.node.stateAt(q.view)
	if err != nil {
		return nil, err
	}
	return newMachine(st, uint64(q.view.height), q.view.time), nil
}

func (q *query) account() (any, error) {
	a, err := q.address("address")
	if err != nil {
		return nil, err
	}
	m, err := q.machine()
	if err != nil || !m.active(a) {
		return object{}, err
	}
	o := objectOf{"address": toHex(a)}
	o.set("balance", m.balance(a))
	o.set("free_net_usage", m.used(a))
	if len(m.state.GetCode(a)) > 0 {
		o["type"] = "Contract"
		return object(o), nil
	}
	list := m.permissions(a)
	o["owner_permission"] = list[0].shown()
	active := []object{}
	for _, p := range list[1:] {
		active = append(active, p.shown())
	}
	o["active_permission"] = active
	return object(o), nil
}

func (q *query) resources() (any, error) {
	a, err := q.address("address")
	if err != nil {
		return nil, err
	}
	m, err := q.machine()
	if err != nil || !m.active(a) {
		return object{}, err
	}
	o := objectOf{"freeNetLimit": freeBandwidth}
	o.set("freeNetUsed", m.used(a))
	return object(o), nil
}

func (q *query) parameters() (any, error) {
	list := []object{}
	for _, p := range []struct {
		key   string
		value int64
	}{
		{"getMaintenanceTimeInterval", 21_600_000}, {"getCreateAccountFee", activationNetwork},
		{"getTransactionFee", bytePrice},
		{"getCreateNewAccountFeeInSystemContract", activationPrice}, {"getCreateNewAccountBandwidthRate", 1},
		{"getEnergyFee", energyPrice}, {"getFreeNetLimit", freeBandwidth}, {"getMaxFeeLimit", maxFeeLimit},
		{"getForbidTransferToContract", 1}, {"getMemoFee", 0},
		{"getMultiSignFee", multiSignFee}, {"getUpdateAccountPermissionFee", updateFee}, {"getTotalSignNum", 5},
	} {
		entry := objectOf{"key": p.key}
		entry.set("value", p.value)
		list = append(list, object(entry))
	}
	return object{"chainParameter": list}, nil
}

func (q *query) validateAddress() (any, error) {
	_, err := q.address("address")
	if err != nil {
		return object{"result": false, "message": "Invalid address"}, nil
	}
	return object{"result": true, "message": "Hex string format"}, nil
}

func (q *query) contract() (any, error) {
	a, err := q.address("value")
	if err != nil {
		return nil, err
	}
	m, err := q.machine()
	if err != nil || len(m.state.GetCode(a)) == 0 {
		return object{}, err
	}
	o := object{
		"bytecode":                      hex.EncodeToString(m.state.GetCode(a)),
		"contract_address":              toHex(a),
		"origin_address":                toHex(q.node.bank),
		"consume_user_resource_percent": 100,
	}
	if a == q.node.token {
		o["name"], o["abi"] = "Token", object{"entrys": abiEntries(tokenABI)}
	}
	return o, nil
}

// called reads a call: a function with parameters, or whole call data.
func (q *query) called() (t *transaction, err error) {
	t = &transaction{kind: trigger}
	if t.owner, err = q.address("owner_address"); err != nil {
		return nil, err
	}
	if t.to, err = q.address("contract_address"); err != nil {
		return nil, err
	}
	if t.amount, err = q.number("call_value"); err != nil || t.amount < 0 {
		return nil, errors.New("call_value is not an amount")
	}
	if t.feeLimit, err = q.number("fee_limit"); err != nil {
		return nil, err
	}
	text := q.text("data")
	if function := strings.TrimSpace(q.text("function_selector")); function != "" {
		text = hex.EncodeToString(selector(function)) + q.text("parameter")
	}
	if t.data, err = hex.DecodeString(text); err != nil {
		return nil, errors.New("call data is not hexadecimal")
	}
	return t, nil
}

// noContract is the answer for an address without code.
func noContract() object { return unfit("Smart contract is not exist.") }

// unfit is java-tron's answer to a call that it does not run (TriggerConstantContractServlet, EstimateEnergyServlet).
func unfit(why string) object {
	return object{"result": object{"code": "CONTRACT_VALIDATE_ERROR", "message": hex.EncodeToString([]byte(why))}}
}

// triggerConstant runs a call that changes nothing. A revert is answered with `result: true` all the same.
func (q *query) triggerConstant() (any, error) {
	t, err := q.called()
	if err != nil {
		return nil, err
	}
	m, err := q.machine()
	if err != nil {
		return nil, err
	}
	if len(m.state.GetCode(t.to)) == 0 {
		return noContract(), nil
	}
	if q.node.cfg.AsShipped { // the contract is looked up first (4.8, Wallet.triggerConstantContract)
		return unfit("this node does not support constant"), nil
	}
	o := m.constant(t.owner, t.to, t.data, t.amount)
	q.node.anchor(t)
	built, err := t.build(nil)
	if err != nil {
		return nil, err
	}
	tx := built.unsigned(q.visible)
	tx["ret"] = []object{{}}
	outcome := object{"result": true}
	if o.err != nil {
		tx["ret"] = []object{{"ret": "FAILED"}}
		outcome["message"] = hex.EncodeToString([]byte(inWords(o.err)))
	}
	return object{
		"result":          outcome,
		"energy_used":     o.energy,
		"constant_result": []string{hex.EncodeToString(o.output)},
		"transaction":     tx,
	}, nil
}

// inWords is java-tron's text for a failure.
func inWords(err error) string {
	if errors.Is(err, vm.ErrExecutionReverted) {
		return "REVERT opcode executed"
	}
	return err.Error()
}

func (q *query) estimate() (any, error) {
	if q.node.cfg.AsShipped {
		return unfit("this node does not support estimate energy"), nil
	}
	t, err := q.called()
	if err != nil {
		return nil, err
	}
	m, err := q.machine()
	if err != nil {
		return nil, err
	}
	if len(m.state.GetCode(t.to)) == 0 {
		return noContract(), nil
	}
	o := m.constant(t.owner, t.to, t.data, t.amount)
	if o.err != nil {
		return object{"result": object{"code": "CONTRACT_EXE_ERROR", "message": hex.EncodeToString([]byte(inWords(o.err)))}},
			nil
	}
	return object{"result": object{"result": true}, "energy_required": o.energy}, nil
}

// triggerSmart builds a call to sign.
func (q *query) triggerSmart() (any, error) {
	t, err := q.called()
	if err != nil {
		return nil, err
	}
	if len(q.codeOf(t.to)) == 0 {
		return noContract(), nil
	}
	built, err := q.built(t)
	if err != nil {
		return nil, err
	}
	return object{"result": object{"result": true}, "transaction": built}, nil
}

func (q *query) codeOf(a common.Address) []byte {
	m, err := q.machine()
	if err != nil {
		return nil
	}
	return m.state.GetCode(a)
}

// createTransaction builds a payment to sign, and refuses one that could not be executed now.
func (q *query) createTransaction() (any, error) {
	t := &transaction{kind: transfer}
	var err error
	if t.owner, err = q.address("owner_address"); err != nil {
		return nil, err
	}
	if t.to, err = q.address("to_address"); err != nil {
		return nil, err
	}
	if t.amount, err = q.number("amount"); err != nil {
		return nil, err
	}
	m, err := q.machine()
	if err != nil {
		return nil, err
	}
	if err := m.transfer(t, &result{}); err != nil {
		return nil, err
	}
	return q.built(t)
}

func (q *query) built(t *transaction) (object, error) {
	q.node.anchor(t)
	t.expiration = q.node.head().time + 60_000
	built, err := t.build(nil)
	if err != nil {
		return nil, err
	}
	return built.unsigned(q.visible), nil
}
