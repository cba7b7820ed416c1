package tron

import (
	"encoding/binary"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/holiman/uint256"
)

// The network's prices, in sun, as on mainnet since August 2025.
const (
	bytePrice         = 1000
	energyPrice       = 100
	activationPrice   = 1_000_000
	activationNetwork = 100_000
	freeBandwidth     = 600 // bytes a day
	maxFeeLimit       = 15_000_000_000
)

const (
	activated = 1 // the nonce of an account that exists: the EVM deletes an account without nonce, balance and code
	day       = 24 * 60 * 60 * 1000
)

// refusal is the reason, in java-tron's words, why a transaction cannot be in a block now.
type refusal struct{ code, message string }

func (r *refusal) Error() string { return r.code + ": " + r.message }

func invalid(format string, args ...any) error {
	return &refusal{"CONTRACT_VALIDATE_ERROR", "Contract validate error : " + fmt.Sprintf(format, args...)}
}

// result is what a transaction did.
type result struct {
	contractRet                              string
	fee, netFee, netUsage, energyFee, energy int64
	outcome                                  *outcome // of a call
}

// books is the account in whose storage the state keeps each account's use of free bandwidth.
func books() common.Address { return common.BytesToAddress([]byte("sandbox bandwidth")) }

// execute executes a transaction, or returns a *refusal and leaves the state as it was.
func (m *machine) execute(t *transaction) (*result, error) {
	snapshot := m.state.Snapshot()
	r := &result{contractRet: "SUCCESS"}
	err := m.validate(t)
	if err == nil {
		err = m.authorize(t)
	}
	for _, step := range []func(*transaction, *result) error{m.chargeMultiSignFee, m.bandwidth, m.run} {
		if err == nil {
			err = step(t, r)
		}
	}
	if err != nil {
		m.state.RevertToSnapshot(snapshot)
		return nil, err
	}
	r.fee += r.netFee + r.energyFee
	m.state.Finalise(m.rules)
	return r, nil
}

// run does what a transaction is for.
func (m *machine) run(t *transaction, r *result) error {
	switch t.kind {
	case transfer:
		return m.transfer(t, r)
	case update:
		return m.update(t, r)
	}
	return m.trigger(t, r)
}

func (m *machine) validate(t *transaction) error {
	switch {
	case t.contracts != 1 || !t.readable:
		return invalid("the sandbox does not execute this kind of contract")
	case !m.active(t.owner):
		return invalid("account [%s] does not exist", toBase58(t.owner))
	case t.amount < 0:
		return invalid("Amount must be greater than or equal to 0.")
	case t.feeLimit < 0 || t.feeLimit > maxFeeLimit:
		return invalid("feeLimit must be >= 0 and <= %d", maxFeeLimit)
	}
	return nil
}

func (m *machine) active(a common.Address) bool { return m.state.GetNonce(a) >= activated }

func (m *machine) balance(a common.Address) int64 { return int64(m.state.GetBalance(a).Uint64()) }

func (m *machine) pay(from common.Address, sun int64) {
	m.state.SubBalance(from, uint256.NewInt(uint64(sun)), tracing.BalanceChangeUnspecified)
}

func (m *machine) receive(to common.Address, sun int64) {
	m.state.AddBalance(to, uint256.NewInt(uint64(sun)), tracing.BalanceChangeUnspecified)
	if !m.active(to) {
		m.state.SetNonce(to, activated, tracing.NonceChangeUnspecified)
	}
}

// creates reports whether a transaction makes an account.
func (m *machine) creates(t *transaction) bool { return t.kind == transfer && !m.active(t.to) }

// bandwidth takes a transaction's bytes from the free daily share, or sells them. A transaction that creates an
// account pays a fixed fee instead, because no free share covers its bytes (BandwidthProcessor).
func (m *machine) bandwidth(t *transaction, r *result) error {
	size := t.size()
	if m.creates(t) {
		r.netFee = activationNetwork
	} else if used := m.used(t.owner); used+size <= freeBandwidth {
		r.netUsage = size
		m.use(t.owner, used+size)
		return nil
	} else {
		r.netFee = size * bytePrice
	}
	if m.balance(t.owner) < r.netFee {
		return &refusal{"BANDWITH_ERROR", "Account resource insufficient error."}
	}
	m.pay(t.owner, r.netFee)
	return nil
}

// used is how much of an account's free bandwidth is used up; it recovers evenly within a day.
func (m *machine) used(a common.Address) int64 { return usedAt(m.state, a, m.time) }

func usedAt(st *state.StateDB, a common.Address, now int64) int64 {
	kept := st.GetState(books(), common.BytesToHash(a[:]))
	used, since := int64(binary.BigEndian.Uint64(kept[16:24])), int64(binary.BigEndian.Uint64(kept[24:]))
	return used * max(day-(now-since), 0) / day
}

func (m *machine) use(a common.Address, used int64) {
	var kept common.Hash
	binary.BigEndian.PutUint64(kept[16:24], uint64(used))
	binary.BigEndian.PutUint64(kept[24:], uint64(m.time))
	if m.state.GetNonce(books()) == 0 {
		m.state.SetNonce(books(), activated, tracing.NonceChangeUnspecified)
	}
	m.state.SetState(books(), common.BytesToHash(a[:]), kept)
}

// transfer is TransferActuator.
func (m *machine) transfer(t *transaction, r *result) error {
	activation := int64(0)
	if m.creates(t) {
		activation = activationPrice
	}
	switch {
	case t.to == t.owner:
		return invalid("Cannot transfer TRX to yourself.")
	case t.amount <= 0:
		return invalid("Amount must be greater than 0.")
	case len(m.state.GetCode(t.to)) > 0:
		return invalid("Cannot transfer TRX to a smartContract.")
	case m.balance(t.owner)-activation < t.amount:
		return invalid("Validate TransferContract error, balance is not sufficient.")
	}
	m.pay(t.owner, t.amount+activation)
	r.fee += activation
	m.receive(t.to, t.amount)
	return nil
}

// trigger is VMActuator. A call that fails is in the block and costs its energy, but has no other effect.
func (m *machine) trigger(t *transaction, r *result) error {
	if len(m.state.GetCode(t.to)) == 0 {
		return invalid("No contract or not a valid smart contract")
	}
	have := m.balance(t.owner) - t.amount
	if have < 0 {
		return invalid("Validate InternalTransfer error, balance is not sufficient.")
	}
	limit := min(t.feeLimit, have) / energyPrice
	o := m.call(t.owner, t.to, t.data, t.amount, uint64(limit), common.Hash(t.id))
	r.outcome, r.contractRet = &o, o.contractRet()
	r.energy = int64(o.energy)
	r.energyFee = r.energy * energyPrice
	m.pay(t.owner, r.energyFee)
	return nil
}
