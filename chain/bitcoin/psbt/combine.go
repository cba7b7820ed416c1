package psbt

import (
	"bytes"
	"errors"
	"fmt"
)

// ErrOther says that two packets are not of one transaction.
var ErrOther = errors.New("the packets are of two transactions")

// Combine adds the fields of another packet of the same transaction (BIP 174, Combiner). A field of both with two
// values keeps that of p, except that a final witness is never dropped.
func (p *Packet) Combine(other *Packet) (*Packet, error) {
	if p.Tx.TxHash() != other.Tx.TxHash() {
		return nil, fmt.Errorf("combine %s with %s: %w", p.Tx.TxHash(), other.Tx.TxHash(), ErrOther)
	}
	joined := New(p.Tx)
	joined.Global = join(p.Global, other.Global)
	for i := range p.Inputs {
		joined.Inputs[i] = join(p.Inputs[i], other.Inputs[i])
	}
	for i := range p.Outputs {
		joined.Outputs[i] = join(p.Outputs[i], other.Outputs[i])
	}
	return joined, nil
}

func join(one, two Map) Map {
	joined := append(Map(nil), one...)
	for _, f := range two {
		if !one.has(f.Key) {
			joined = append(joined, f)
		}
	}
	return joined
}

func (m Map) has(key []byte) bool {
	for _, f := range m {
		if bytes.Equal(f.Key, key) {
			return true
		}
	}
	return false
}
