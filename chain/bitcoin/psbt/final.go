package psbt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

var (
	// ErrIncomplete says that signatures are missing.
	ErrIncomplete = errors.New("signatures are missing")
	errScript     = errors.New("the script is neither of one key's hash nor multisig")
)

// Finalize makes the scripts and witnesses of all inputs from their signatures (BIP 174, Input Finalizer): outputs to
// the hash of one key, and multisig as P2SH, P2WSH or the one within the other. It checks no signature. The signatures
// of an input that was finalised before stay as they are. An input with too few is an ErrIncomplete.
func (p *Packet) Finalize() (*Packet, error) {
	done := New(p.Tx)
	done.Global, done.Outputs = p.Global, p.Outputs
	for i, in := range p.Inputs {
		if in.Get(InFinalScript) != nil || in.Get(InFinalWitness) != nil {
			done.Inputs[i] = in
			continue
		}
		script, witness, err := finalOf(in)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		done.Inputs[i] = slices.DeleteFunc(slices.Clone(in), func(f Field) bool {
			return f.Key[0] >= InSignature && f.Key[0] <= InDerivation
		})
		if len(script) > 0 {
			done.Inputs[i].Set([]byte{InFinalScript}, script)
		}
		if len(witness) > 0 {
			done.Inputs[i].Set([]byte{InFinalWitness}, encodeWitness(witness))
		}
	}
	return done, nil
}

// finalOf returns the script and the witness of an input.
func finalOf(in Map) (script []byte, witness wire.TxWitness, err error) {
	redeem, program := in.Get(InRedeemScript), in.Get(InWitnessScript)
	switch {
	case program != nil:
		if witness, err = multisig(program, in); err != nil {
			return nil, nil, err
		}
		return push(redeem), append(witness, program), nil
	case redeem != nil:
		if witness, err = multisig(redeem, in); err != nil {
			return nil, nil, err
		}
		return push(append(witness, redeem)...), nil, nil
	}
	signatures := in.Of(InSignature)
	if len(signatures) != 1 {
		return nil, nil, fmt.Errorf("%w: there are %d, want 1", ErrIncomplete, len(signatures))
	}
	return nil, wire.TxWitness{signatures[0].Value, signatures[0].Key[1:]}, nil
}

// multisig returns an empty item, which CHECKMULTISIG takes too many, and as many signatures as the script needs, in
// the order of its keys.
func multisig(script []byte, in Map) (wire.TxWitness, error) {
	need, keys, err := Multisig(script)
	if err != nil {
		return nil, err
	}
	witness := wire.TxWitness{{}}
	for _, key := range keys {
		if signature := in.Get(append([]byte{InSignature}, key...)...); signature != nil && len(witness) <= need {
			witness = append(witness, signature)
		}
	}
	if len(witness) <= need {
		return nil, fmt.Errorf("%w: there are %d, want %d", ErrIncomplete, len(witness)-1, need)
	}
	return witness, nil
}

// Multisig reads a multisig script: how many signatures it needs, and its keys in order.
func Multisig(script []byte) (need int, keys [][]byte, err error) {
	tokens := txscript.MakeScriptTokenizer(0, script)
	if !tokens.Next() || !txscript.IsSmallInt(tokens.Opcode()) {
		return 0, nil, errScript
	}
	need = txscript.AsSmallInt(tokens.Opcode())
	for tokens.Next() && isKey(tokens.Data()) {
		keys = append(keys, bytes.Clone(tokens.Data()))
	}
	if tokens.Err() != nil || !txscript.IsSmallInt(tokens.Opcode()) ||
		txscript.AsSmallInt(tokens.Opcode()) != len(keys) || need == 0 || need > len(keys) ||
		!tokens.Next() || tokens.Opcode() != txscript.OP_CHECKMULTISIG || tokens.Next() || tokens.Err() != nil {
		return 0, nil, errScript
	}
	return need, keys, nil
}

// push returns a script that pushes items, the empty one as OP_0.
func push(items ...[]byte) []byte {
	b := txscript.NewScriptBuilder()
	for _, item := range items {
		if len(item) > 0 || len(items) > 1 {
			b.AddData(item)
		}
	}
	script, _ := b.Script() // items of a packet that was parsed: at most 520 bytes, or no node takes the transaction
	return script
}

func encodeWitness(witness wire.TxWitness) []byte {
	var b bytes.Buffer
	_ = wire.WriteVarInt(&b, 0, uint64(len(witness))) // a buffer takes everything
	for _, item := range witness {
		_ = wire.WriteVarBytes(&b, 0, item)
	}
	return b.Bytes()
}

// decodeWitness reads a final witness.
func decodeWitness(value []byte) (wire.TxWitness, error) {
	r := bytes.NewReader(value)
	n, err := wire.ReadVarInt(r, 0)
	if err != nil || n > uint64(len(value)) {
		return nil, fmt.Errorf("%w: a witness of %d items", ErrPacket, n)
	}
	var witness wire.TxWitness
	for range n {
		item, err := readBytes(r)
		if err != nil {
			return nil, fmt.Errorf("%w: witness: %w", ErrPacket, err)
		}
		witness = append(witness, item)
	}
	if r.Len() != 0 {
		return nil, fmt.Errorf("%w: %d bytes after a witness", ErrPacket, r.Len())
	}
	return witness, nil
}

// FinalWitness returns the witness of an input that is final, nil of one that is not.
func (m Map) FinalWitness() (wire.TxWitness, error) {
	value := m.Get(InFinalWitness)
	if value == nil {
		return nil, nil
	}
	return decodeWitness(value)
}

// Extract returns the signed transaction of a packet whose inputs are all final (BIP 174, Transaction Extractor).
func (p *Packet) Extract() (*wire.MsgTx, error) {
	tx := p.Tx.Copy()
	for i, in := range p.Inputs {
		script, witness := in.Get(InFinalScript), in.Get(InFinalWitness)
		if script == nil && witness == nil {
			return nil, fmt.Errorf("input %d is not final: %w", i, ErrIncomplete)
		}
		tx.TxIn[i].SignatureScript = script
		if witness == nil {
			continue
		}
		items, err := decodeWitness(witness)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		tx.TxIn[i].Witness = items
	}
	return tx, nil
}
