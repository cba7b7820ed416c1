package solana

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Sizes and codes of the wire format (docs: Solana transactions; Agave's sdk: short_vec, system_instruction,
// compute_budget). All numbers are little endian.
const (
	packetSize   = 1232 // PACKET_DATA_SIZE: the most that a transaction may have, signatures included
	maxTransfers = 10

	transferCode  = 2 // SystemInstruction::Transfer
	unitLimitCode = 2 // ComputeBudgetInstruction::SetComputeUnitLimit
	unitPriceCode = 3 // ComputeBudgetInstruction::SetComputeUnitPrice
)

var (
	systemProgram = key{}
	budgetProgram = mustKey("ComputeBudget111111111111111111111111111111")

	errMessage = errors.New("not a message of the one form in use")
)

// mustKey reads a constant of this package.
func mustKey(s string) key {
	k, err := parseKey(s)
	if err != nil {
		panic("solana: " + s + " is not a key")
	}
	return k
}

// transfer moves lamports from the payer.
type transfer struct {
	to       key
	lamports uint64
}

// message is what is signed: a legacy message with one signer, who pays the fee and every transfer. A message with a limit
// of zero carries no compute budget at all, which only published vectors do.
type message struct {
	payer     key
	blockhash key
	limit     uint32 // units of computing
	price     uint64 // micro-lamports for each unit
	transfers []transfer
}

// encode writes the one form of a message: the payer, the receivers in order of appearance, the programs; then price,
// limit and the transfers.
func (m *message) encode() []byte {
	accounts := []key{m.payer}
	for _, t := range m.transfers {
		if !slices.Contains(accounts, t.to) {
			accounts = append(accounts, t.to)
		}
	}
	writable := len(accounts)
	if m.limit > 0 {
		accounts = append(accounts, budgetProgram)
	}
	accounts = append(accounts, systemProgram)
	budget, system := byte(writable), byte(len(accounts)-1)

	out := []byte{1, 0, byte(len(accounts) - writable)}
	out = append(out, byte(len(accounts))) // compact-u16 of a number below 128 is that byte
	for _, k := range accounts {
		out = append(out, k[:]...)
	}
	out = append(out, m.blockhash[:]...)
	if m.limit > 0 {
		out = append(out, byte(len(m.transfers)+2))
		out = append(out, budget, 0, 9, unitPriceCode)
		out = binary.LittleEndian.AppendUint64(out, m.price)
		out = append(out, budget, 0, 5, unitLimitCode)
		out = binary.LittleEndian.AppendUint32(out, m.limit)
	} else {
		out = append(out, byte(len(m.transfers)))
	}
	for _, t := range m.transfers {
		out = append(out, system, 2, 0, byte(slices.Index(accounts, t.to)), 12)
		out = binary.LittleEndian.AppendUint32(out, transferCode)
		out = binary.LittleEndian.AppendUint64(out, t.lamports)
	}
	return out
}

// decodeMessage reads what encode writes, and nothing else: what it finds is encoded again and compared.
func decodeMessage(raw []byte) (*message, error) {
	if len(raw) > packetSize {
		return nil, fmt.Errorf("%w: %d bytes", errMessage, len(raw))
	}
	r := reader{rest: raw}
	r.take(3)
	accounts := make([]key, r.count())
	for i := range accounts {
		copy(accounts[i][:], r.take(len(key{})))
	}
	m := &message{}
	copy(m.blockhash[:], r.take(len(key{})))
	for range r.count() {
		if err := r.instruction(accounts, m); err != nil {
			return nil, err
		}
	}
	if r.short || len(r.rest) > 0 || len(accounts) == 0 || len(m.transfers) == 0 {
		return nil, errMessage
	}
	m.payer = accounts[0]
	if !slices.Equal(m.encode(), raw) {
		return nil, errMessage
	}
	return m, nil
}

// reader takes bytes off the front. Once it lacks some, everything it returns is empty.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// count reads a compact-u16 below 128; nothing in a message of ours is longer.
func (r *reader) count() int {
	b := r.take(1)
	if len(b) == 0 || b[0] > 127 || int(b[0]) > len(r.rest) {
		r.short = true
		return 0
	}
	return int(b[0])
}

// instruction reads one instruction into m.
func (r *reader) instruction(accounts []key, m *message) error {
	program := r.take(1)
	operands := r.take(r.count())
	data := r.take(r.count())
	if r.short || int(program[0]) >= len(accounts) {
		return errMessage
	}
	switch accounts[program[0]] {
	case budgetProgram:
		return m.readBudget(data)
	case systemProgram:
		if len(operands) != 2 || len(data) != 12 || int(operands[1]) >= len(accounts) {
			return errMessage
		}
		m.transfers = append(m.transfers, transfer{accounts[operands[1]], binary.LittleEndian.Uint64(data[4:])})
		return nil
	}
	return errMessage
}

func (m *message) readBudget(data []byte) error {
	switch {
	case len(data) == 9 && data[0] == unitPriceCode:
		m.price = binary.LittleEndian.Uint64(data[1:])
	case len(data) == 5 && data[0] == unitLimitCode:
		m.limit = binary.LittleEndian.Uint32(data[1:])
	default:
		return errMessage
	}
	return nil
}
