package bitcoin

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

const (
	sizeSignature = 65 // R, S, recovery id
	// compactKey is the offset of the first byte in btcec's compact signatures: recovery id 0 and a compressed key.
	compactKey = 27 + 4
)

var errSignature = errors.New("the signature was not made by the input's key over this unsigned transaction")

// Assemble joins signatures into the transaction. It checks each of them: it recovers the key that made the signature,
// and the key's hash must be the input's address. S must be low, as nodes demand (BIP 146).
func (c *Chain) Assemble(built chain.UnsignedTx, signatures [][]byte) (chain.SignedTx, error) {
	u, err := c.network.parseUnsigned(built.Bytes)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	contents, err := c.network.contents(u)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	if contents.Fee != built.Fee || !slices.Equal(u.outpoints(), built.Reservations) {
		return chain.SignedTx{}, errors.New("assemble: the unsigned transaction's fee or reserved UTXOs differ from " +
			"those in its bytes")
	}
	if len(signatures) != len(contents.Inputs) {
		return chain.SignedTx{}, fmt.Errorf("assemble: got %d signatures for %d inputs", len(signatures),
			len(contents.Inputs))
	}
	for i, in := range contents.Inputs {
		witness, err := c.network.witness(in, signatures[i])
		if err != nil {
			return chain.SignedTx{}, fmt.Errorf("assemble: input %d: %w", i, err)
		}
		u.tx.TxIn[i].Witness = witness
	}
	return c.network.signed(u)
}

// witness returns an input's witness: the DER signature with its hash type, and the public key.
func (n Network) witness(in chain.Input, signature []byte) ([][]byte, error) {
	if len(signature) != sizeSignature || signature[64] > 3 {
		return nil, errSignature
	}
	compact := append([]byte{compactKey + signature[64]}, signature[:64]...)
	key, _, err := ecdsa.RecoverCompact(compact, in.Digest)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSignature, err)
	}
	hash, err := n.keyHash(in.Source.Base)
	if err != nil {
		return nil, err
	}
	if pub := key.SerializeCompressed(); hash160(pub) == hash {
		der, err := encodeDER(signature)
		return [][]byte{der, pub}, err
	}
	return nil, errSignature
}

func encodeDER(signature []byte) ([]byte, error) {
	var r, s btcec.ModNScalar
	if r.SetByteSlice(signature[:32]) || s.SetByteSlice(signature[32:64]) || r.IsZero() || s.IsZero() ||
		s.IsOverHalfOrder() {
		return nil, errSignature
	}
	return append(ecdsa.NewSignature(&r, &s).Serialize(), byte(txscript.SigHashAll)), nil
}

// signed serializes the transaction and lists the outputs that return to us.
func (n Network) signed(u unsigned) (chain.SignedTx, error) {
	var raw bytes.Buffer
	if err := u.tx.Serialize(&raw); err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	script, err := n.script(u.change.Base)
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("assemble: %w", err)
	}
	id := u.tx.TxHash()
	tx := chain.SignedTx{TxID: id.String(), Raw: raw.Bytes()}
	for i, out := range u.tx.TxOut {
		if bytes.Equal(out.PkScript, script) {
			tx.Change = append(tx.Change, chain.UTXO{
				Outpoint: utxoOf(id, uint32(i)), Source: u.change, Amount: bursar.Units(uint64(out.Value)), Unconfirmed: true,
			})
		}
	}
	return tx, nil
}
