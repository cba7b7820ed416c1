package tron

import (
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"
)

// machine runs contracts on a state at a time.
type machine struct {
	state  *state.StateDB
	height uint64
	time   int64 // milliseconds
	rules  params.Rules
}

func newMachine(st *state.StateDB, height uint64, time int64) *machine {
	return &machine{state: st, height: height, time: time,
		rules: evmConfig().Rules(new(big.Int).SetUint64(height), true, uint64(time/1000))}
}

// evmConfig has the rules up to Ethereum's Shanghai, whose instructions Tron's machine has too.
func evmConfig() *params.ChainConfig {
	c := *params.AllEthashProtocolChanges
	c.ShanghaiTime, c.TerminalTotalDifficulty = new(uint64), new(big.Int)
	return &c
}

// internal is one step between contracts (java-tron's InternalTransaction).
type internal struct {
	from, to common.Address
	sun      int64
	note     string
	rejected bool
}

// outcome is the outcome of a call.
type outcome struct {
	output    []byte
	energy    uint64
	err       error
	logs      []*types.Log
	internals []internal
}

func (o *outcome) contractRet() string {
	switch {
	case o.err == nil:
		return "SUCCESS"
	case errors.Is(o.err, vm.ErrExecutionReverted):
		return "REVERT"
	case errors.Is(o.err, vm.ErrOutOfGas):
		return "OUT_OF_ENERGY"
	}
	return "UNKNOWN"
}

// recorder records internal transactions, and rejects those below a call that fails.
type recorder struct {
	list    []internal
	started []int // for each open frame, the index of its first internal transaction
}

func (r *recorder) hooks() *tracing.Hooks {
	return &tracing.Hooks{OnEnter: r.enter, OnExit: r.exit}
}

func (r *recorder) enter(depth int, typ byte, from, to common.Address, _ []byte, _ uint64, value *big.Int) {
	if depth > 0 {
		note := map[vm.OpCode]string{vm.CREATE: "create", vm.CREATE2: "create", vm.SELFDESTRUCT: "suicide"}[vm.OpCode(typ)]
		if note == "" {
			note = "call"
		}
		step := internal{from: from, to: to, note: note}
		if value != nil && vm.OpCode(typ) != vm.DELEGATECALL {
			step.sun = value.Int64()
		}
		r.list = append(r.list, step)
		r.started = append(r.started, len(r.list)-1)
		return
	}
	r.started = append(r.started, 0)
}

func (r *recorder) exit(_ int, _ []byte, _ uint64, err error, reverted bool) {
	begin := r.started[len(r.started)-1]
	r.started = r.started[:len(r.started)-1]
	if err == nil && !reverted {
		return
	}
	for i := begin; i < len(r.list); i++ {
		r.list[i].rejected = true
	}
}

// evm makes the environment of one call. TRX that reaches an address activates it.
func (m *machine) evm(owner common.Address, hooks *tracing.Hooks) *vm.EVM {
	block := vm.BlockContext{
		CanTransfer: core.CanTransfer,
		Transfer: func(st vm.StateDB, from, to common.Address, amount *uint256.Int, rules *params.Rules) {
			core.Transfer(st, from, to, amount, rules)
			if !amount.IsZero() && st.GetNonce(to) == 0 {
				st.SetNonce(to, activated, tracing.NonceChangeUnspecified)
			}
		},
		GetHash:     func(uint64) common.Hash { return common.Hash{} },
		BlockNumber: new(big.Int).SetUint64(m.height), Time: uint64(m.time / 1000),
		Difficulty: new(big.Int), GasLimit: constantEnergy, BaseFee: new(big.Int), BlobBaseFee: new(big.Int),
		Random: &common.Hash{},
	}
	evm := vm.NewEVM(block, m.state, evmConfig(), vm.Config{Tracer: hooks, NoBaseFee: true})
	evm.SetTxContext(vm.TxContext{Origin: owner, GasPrice: new(uint256.Int)})
	return evm
}

// constantEnergy is the energy limit of a call without a transaction (java-tron's vm.maxEnergyLimitForConstant).
const constantEnergy = 100_000_000

// call runs a call within an energy limit. A failed one leaves the state as it was.
func (m *machine) call(owner, to common.Address, data []byte, sun int64, limit uint64, id common.Hash) outcome {
	r := &recorder{}
	evm := m.evm(owner, r.hooks())
	defer evm.Release()
	m.state.Prepare(m.rules, owner, common.Address{}, &to, vm.ActivePrecompiles(m.rules), nil)
	m.state.SetTxContext(id, 0, 0)
	before := len(m.state.GetLogs(id, m.height, common.Hash{}, 0))
	budget := vm.NewGasBudget(limit, 0)
	output, left, err := evm.Call(owner, to, data, budget, uint256.NewInt(uint64(sun)))
	return outcome{
		output: output, energy: limit - left.ExecutionGas, err: err, internals: r.list,
		logs: m.state.GetLogs(id, m.height, common.Hash{}, 0)[before:],
	}
}

// deploy creates a contract at genesis.
func (m *machine) deploy(owner common.Address, creation []byte) (common.Address, error) {
	evm := m.evm(owner, nil)
	defer evm.Release()
	m.state.Prepare(m.rules, owner, common.Address{}, nil, vm.ActivePrecompiles(m.rules), nil)
	_, at, _, err := evm.Create(owner, creation, vm.NewGasBudget(constantEnergy, 0), new(uint256.Int))
	return at, err
}

// constant runs a call whose effects are not kept: the state must be a copy that is discarded.
func (m *machine) constant(owner, to common.Address, data []byte, sun int64) outcome {
	return m.call(owner, to, data, sun, constantEnergy, common.Hash{0xff})
}
