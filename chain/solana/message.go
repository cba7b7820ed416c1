package solana

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// The codes of instructions (Agave's sdk: system_instruction, compute_budget).
const (
	maxTransfers = 10

	transferCode  = 2 // SystemInstruction::Transfer
	unitLimitCode = 2 // ComputeBudgetInstruction::SetComputeUnitLimit
	unitPriceCode = 3 // ComputeBudgetInstruction::SetComputeUnitPrice

	// mostLoaded is how many bytes of accounts a v1 message may load: as many as any other
	// (MAX_LOADED_ACCOUNTS_DATA_SIZE_BYTES), since a receiver may be an account with data. The default would be none.
	mostLoaded = 64 << 20
)

var (
	systemProgram = key{}
	budgetProgram = mustKey("ComputeBudget111111111111111111111111111111")
)

// mustKey parses a constant of this package.
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

// message is the signed part of a transaction: it has one signer, who pays the fee and every transfer. A message with a
// limit of zero has no compute budget at all; only published vectors are like that.
type message struct {
	format    format
	payer     key
	blockhash key
	limit     uint32 // compute units
	price     uint64 // micro-lamports for each unit; 0 in v1
	priority  uint64 // lamports above the base fee in v1; 0 in the others
	transfers []transfer
}

// encode returns the only encoding of a message in its format.
func (m *message) encode() []byte { return m.compile().encode() }

// compile lists the payer, the receivers in order of appearance and the programs; then the budget, if the format sets
// it by instructions, and the transfers.
func (m *message) compile() *compiled {
	c := &compiled{format: m.format, signers: 1, blockhash: m.blockhash, keys: []key{m.payer}}
	for _, t := range m.transfers {
		if !slices.Contains(c.keys, t.to) {
			c.keys = append(c.keys, t.to)
		}
	}
	writable := len(c.keys)
	switch {
	case m.limit == 0:
	case m.format == v1:
		c.reserve = reserve{mask: maskFee | maskUnits | maskLoaded, fee: m.priority, units: m.limit, loaded: mostLoaded}
	default:
		c.keys = append(c.keys, budgetProgram)
		c.steps = append(c.steps,
			step{byte(writable), nil, binary.LittleEndian.AppendUint64([]byte{unitPriceCode}, m.price)},
			step{byte(writable), nil, binary.LittleEndian.AppendUint32([]byte{unitLimitCode}, m.limit)})
	}
	system := byte(len(c.keys))
	c.keys = append(c.keys, systemProgram)
	c.readUnsigned = byte(len(c.keys) - writable)
	for _, t := range m.transfers {
		data := binary.LittleEndian.AppendUint32(nil, transferCode)
		data = binary.LittleEndian.AppendUint64(data, t.lamports)
		c.steps = append(c.steps, step{system, []byte{0, byte(slices.Index(c.keys, t.to))}, data})
	}
	return c
}

// decodeMessage reads the output of encode, in any format, and refuses anything else: it encodes the result again and
// compares.
func decodeMessage(raw []byte) (*message, error) {
	c, err := compiledFrom(raw)
	if err != nil {
		return nil, err
	}
	m := &message{
		format:    c.format,
		payer:     c.keys[0],
		blockhash: c.blockhash,
		limit:     c.reserve.units,
		priority:  c.reserve.fee,
	}
	for _, s := range c.steps {
		if err := m.readStep(c, s); err != nil {
			return nil, err
		}
	}
	if len(m.transfers) == 0 || !slices.Equal(m.encode(), raw) {
		return nil, errMessage
	}
	return m, nil
}

// readStep reads one instruction into m.
func (m *message) readStep(c *compiled, s step) error {
	if int(s.program) >= len(c.keys) {
		return errMessage
	}
	switch c.keys[s.program] {
	case budgetProgram:
		return m.readBudget(s.data)
	case systemProgram:
		if len(s.accounts) != 2 || len(s.data) != 12 || int(s.accounts[1]) >= len(c.keys) {
			return errMessage
		}
		m.transfers = append(m.transfers, transfer{c.keys[s.accounts[1]], binary.LittleEndian.Uint64(s.data[4:])})
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

// transaction joins a message and its only signature: the old formats begin with the number of signatures and the
// signatures, v1 ends with them.
func (m *message) transaction(sig, body []byte) []byte {
	if m.format == v1 {
		return slices.Concat(body, sig)
	}
	return slices.Concat([]byte{1}, sig, body)
}

// split splits a transaction with one signature into its parts.
func split(raw []byte) (signature, []byte, error) {
	const size = len(signature{})
	switch {
	case len(raw) > size && raw[0] == prefixV1 && len(raw) <= packetSizeV1:
		body := raw[:len(raw)-size]
		return signature(raw[len(body):]), body, nil
	case len(raw) > 1+size && raw[0] == 1 && len(raw) <= packetSize:
		return signature(raw[1 : 1+size]), raw[1+size:], nil
	}
	return signature{}, nil, fmt.Errorf("%w: not a transaction with one signature", errMessage)
}

// mostBytes returns the maximum size of a transaction in the message's format.
func (m *message) mostBytes() int {
	if m.format == v1 {
		return packetSizeV1
	}
	return packetSize
}
