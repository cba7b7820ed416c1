package signer

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// fakeChain is a Signable whose transactions are the JSON of what they do, so that a test can build any transaction.
// The digests are the test's own; Assemble checks every signature as a real adapter does.
type fakeChain struct {
	curve chain.Curve
	keys  *Keys                 // used to find the ed25519 key behind an address, which hides it
	alter func(*chain.SignedTx) // what a faulty adapter does at the end
}

// readingChain can read its signed transactions too.
type readingChain struct {
	fakeChain
	reread func(*chain.Contents)
}

func (f fakeChain) Address(pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	sum := sha256.Sum256(pub)
	a := bursar.Address{Base: "own" + hex.EncodeToString(sum[:6])}
	if memo > 0 {
		a.Memo, a.HasMemo = memo, true
	}
	return a, nil
}

func (f fakeChain) ParseAddress(s string) (bursar.Address, error) { return bursar.SplitMemo(s) }

// ParseContract accepts letters in any case, as in contracts of EVM chains; lower case is canonical.
func (f fakeChain) ParseContract(s string) (string, error) {
	if strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsLetter(c) }) {
		return "", bursar.ErrBadAddress
	}
	return strings.ToLower(s), nil
}

func (f fakeChain) Inspect(unsigned []byte) (chain.Contents, error) {
	var contents chain.Contents
	err := json.Unmarshal(unsigned, &contents)
	return contents, err
}

// fakePrevious is a previous transaction of a fakeChain.
type fakePrevious struct {
	TxID    string
	Outputs []chain.Output
}

func (f fakeChain) ReadPrevious(raw []byte, wanted ...uint32) (txID string, _ map[uint32]chain.Output, err error) {
	var previous fakePrevious
	err = json.Unmarshal(raw, &previous)
	outputs := map[uint32]chain.Output{}
	for _, n := range wanted {
		if int(n) < len(previous.Outputs) {
			outputs[n] = previous.Outputs[n]
		}
	}
	return previous.TxID, outputs, err
}

func (f fakeChain) Script(base string) ([]byte, error) {
	if base == "" {
		return nil, bursar.ErrBadAddress
	}
	return []byte(base), nil
}

func (f fakeChain) PreviousOf(raw []byte) ([]byte, error) { return raw, nil }

// previous are previous transactions that prove what a transaction says of its inputs.
func previous(contents chain.Contents) (list [][]byte) {
	made := map[string]*fakePrevious{}
	for _, input := range contents.Inputs {
		txID, number, is := strings.Cut(input.Outpoint, ":")
		n, err := strconv.Atoi(number)
		if !is || err != nil || n > 1000 {
			continue
		}
		p := made[txID]
		if p == nil {
			p = &fakePrevious{TxID: txID}
			made[txID] = p
		}
		for len(p.Outputs) <= n {
			p.Outputs = append(p.Outputs, chain.Output{})
		}
		p.Outputs[n] = chain.Output{Script: []byte(input.Source.Base), Amount: input.Amount}
	}
	for _, p := range made {
		raw, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		list = append(list, raw)
	}
	return list
}

func (f fakeChain) Assemble(unsigned chain.UnsignedTx, signatures [][]byte) (chain.SignedTx, error) {
	contents, err := f.Inspect(unsigned.Bytes)
	if err != nil || len(signatures) != len(contents.Inputs) {
		return chain.SignedTx{}, fmt.Errorf("%d signatures for %d inputs (%w)", len(signatures), len(contents.Inputs), err)
	}
	var hot chain.Source
	for i, input := range contents.Inputs {
		if !f.verifies(input, signatures[i]) {
			return chain.SignedTx{}, errors.New("a signature does not verify")
		}
		hot = input.Source
	}
	tx := chain.SignedTx{TxID: "tx", Raw: bytes.Clone(unsigned.Bytes)}
	for i, p := range contents.Payments {
		if p.Address.Base == hot.Base && hot.Key.Branch == chain.OwnBranch {
			tx.Change = append(tx.Change, chain.UTXO{Outpoint: "tx:" + strconv.Itoa(i), Source: hot, Amount: p.Amount})
		}
	}
	unsigned.Bytes[0] = 'x' // a signer must not mind
	if f.alter != nil {
		f.alter(&tx)
	}
	return tx, nil
}

func (f fakeChain) verifies(input chain.Input, signature []byte) bool {
	if f.curve == chain.Ed25519 {
		public, err := f.keys.Public(input.Source.Key)
		return err == nil && ed25519.Verify(ed25519.PublicKey(public), input.Digest, signature)
	}
	if len(signature) != 65 || signature[64] > 1 {
		return false
	}
	compact := append([]byte{27 + 4 + signature[64]}, signature[:64]...)
	public, _, err := ecdsa.RecoverCompact(compact, input.Digest)
	if err != nil {
		return false
	}
	address, _ := f.Address(public.SerializeCompressed(), 0)
	return address.Base == input.Source.Base
}

func (r readingChain) InspectSigned(raw []byte) (chain.Contents, error) {
	contents, err := r.Inspect(raw)
	r.reread(&contents)
	return contents, err
}
