package bitcoin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin/psbt"
)

// SignCold adds signatures to a PSBT. Each must be by a key of its input over this transaction.
func (c *Chain) SignCold(
	wallet bursar.ColdWallet, data []byte, signatures []chain.ColdSignature,
) (_ []byte, err error) {
	defer chain.Wrap(&err, "add signatures to a transaction from cold wallet %s", wallet.Name)
	t, err := c.readCold(wallet, data)
	if err != nil {
		return nil, err
	}
	for _, s := range signatures {
		if s.Input < 0 || s.Input >= len(t.inputs) || len(s.Signature) != sizeSignature {
			return nil, fmt.Errorf("%w: input %d, %d bytes", errSignature, s.Input, len(s.Signature))
		}
		der, err := encodeDER(s.Signature)
		if err != nil {
			return nil, err
		}
		t.packet.Inputs[s.Input].Set(append([]byte{psbt.InSignature}, s.Public...), der)
	}
	if err := t.signatures(); err != nil {
		return nil, err
	}
	return t.packet.Encode()
}

// CombineCold adds the signatures of a PSBT, or of the complete transaction that Electrum and others return once they
// made the last signature, to a PSBT. Nothing else of it is taken over.
func (c *Chain) CombineCold(wallet bursar.ColdWallet, one, two []byte) (_ []byte, err error) {
	defer chain.Wrap(&err, "combine a transaction from cold wallet %s", wallet.Name)
	t, err := c.readCold(wallet, one)
	if err != nil {
		return nil, err
	}
	witnesses, fields, err := signedBy(two, t.packet)
	if err != nil {
		return nil, err
	}
	for i, in := range t.inputs {
		for _, f := range fields[i].Of(psbt.InSignature) {
			t.packet.Inputs[i].Set(f.Key, f.Value)
		}
		for _, item := range witnesses[i] {
			for _, k := range in.output.Keys {
				if verifyCold(k.Public, item, in.digest) == nil {
					t.packet.Inputs[i].Set(append([]byte{psbt.InSignature}, k.Public...), item)
				}
			}
		}
	}
	if err := t.signatures(); err != nil {
		return nil, err
	}
	return t.packet.Encode()
}

// signedBy reads what another program signed: fields of a PSBT, and witnesses of inputs that it completed, be it all of
// them or some: a final input has no other signatures.
func signedBy(data []byte, of *psbt.Packet) (witnesses []wire.TxWitness, fields []psbt.Map, err error) {
	tx := new(wire.MsgTx)
	p, err := psbt.Parse(data)
	if err == nil {
		fields, tx = p.Inputs, p.Tx.Copy()
		for i, in := range p.Inputs {
			if tx.TxIn[i].Witness, err = in.FinalWitness(); err != nil {
				return nil, nil, fmt.Errorf("input %d: %w", i, err)
			}
		}
	} else if r := bytes.NewReader(data); tx.Deserialize(r) != nil || r.Len() != 0 {
		return nil, nil, fmt.Errorf("the text is neither a PSBT nor a complete transaction: %w", err)
	}
	if tx.TxHash() != of.Tx.TxHash() {
		return nil, nil, fmt.Errorf("%w: %s, want %s", psbt.ErrOther, tx.TxHash(), of.Tx.TxHash())
	}
	for _, in := range tx.TxIn {
		witnesses = append(witnesses, in.Witness)
	}
	if fields == nil {
		fields = make([]psbt.Map, len(tx.TxIn))
	}
	return witnesses, fields, nil
}

// FinishCold makes the transaction of a PSBT with enough signatures. Where there are more, the first by the order of
// the keys are used.
func (c *Chain) FinishCold(wallet bursar.ColdWallet, data []byte) (_ chain.SignedTx, err error) {
	defer chain.Wrap(&err, "finish a transaction from cold wallet %s", wallet.Name)
	t, err := c.readCold(wallet, data)
	if err != nil {
		return chain.SignedTx{}, err
	}
	for i, in := range t.inputs {
		if in.output.Witness != nil { // a device may have left it out
			t.packet.Inputs[i].Set([]byte{psbt.InWitnessScript}, in.output.Witness)
		}
	}
	final, err := t.packet.Finalize()
	if errors.Is(err, psbt.ErrIncomplete) {
		err = fmt.Errorf("%w: %w", chain.ErrColdIncomplete, err)
	}
	if err != nil {
		return chain.SignedTx{}, err
	}
	tx, err := final.Extract()
	if err != nil {
		return chain.SignedTx{}, err
	}
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		return chain.SignedTx{}, err
	}
	return chain.SignedTx{TxID: tx.TxHash().String(), Raw: raw.Bytes()}, nil
}
