package evm

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

// owners lists who may sign: nobody else once there are enough, because the call is signed with exactly these.
func (t *safeForm) owners() (keys []chain.ColdKey) {
	for _, owner := range t.Owners {
		signed := slices.ContainsFunc(t.Signed, func(s safeSignature) bool { return s.Owner == owner })
		if signed || !t.whole() {
			keys = append(keys, coldKey(t.family, owner, signed))
		}
	}
	return keys
}

// sending adds what the executor signs: nothing before there are enough signatures of owners.
func (t *safeForm) sending(call *payload, tx *chain.ColdTx) error {
	in := chain.ColdInput{Need: 1}
	if t.whole() {
		digest, err := call.digest()
		if err != nil {
			return err
		}
		in.Digest = digest[:]
		in.Keys = []chain.ColdKey{coldKey(t.family, t.Executor, len(t.Sent) > 0)}
	}
	tx.Inputs = append(tx.Inputs, in)
	return nil
}

// add adds an owner's signature as input 0, or the executor's as input 1.
func (t *safeForm) add(input int, signature []byte) error {
	switch {
	case input == 0 && !t.whole():
		owner, err := ethkey.Signer(t.hash(), signature)
		if err != nil {
			return err
		}
		at, found := slices.BinarySearchFunc(t.Signed, address(owner),
			func(s safeSignature, owner address) int { return compare(s.Owner, owner) })
		if !found {
			t.Signed = slices.Insert(t.Signed, at, safeSignature{owner, signature})
		}
	case input == 1 && len(t.Sent) == 0:
		t.Sent = signature
	default:
		return fmt.Errorf("%w: input %d needs none", ethkey.ErrSignature, input)
	}
	return t.signatures()
}

// join adds signatures of owners until there are enough. A copy that is complete is taken as it is.
func (t *safeForm) join(r *Rules, two []byte) error {
	if signature := bare(two); signature != nil {
		if t.whole() {
			return t.add(1, signature)
		}
		return t.add(0, signature)
	}
	other, err := r.readSafe(t.Safe, two)
	if err != nil {
		return err
	}
	mine, theirs := *t, *other
	mine.Signed, mine.Sent, theirs.Signed, theirs.Sent = nil, nil, nil, nil
	one, err := mine.encode()
	if err != nil {
		return err
	}
	if same, err := theirs.encode(); err != nil || !bytes.Equal(one, same) {
		return fmt.Errorf("%w: the bundle has another transaction", errCold)
	}
	if len(t.Sent) > 0 {
		return nil
	}
	if len(other.Sent) > 0 {
		*t = *other
		return nil
	}
	for _, s := range other.Signed {
		if t.whole() {
			break
		}
		if err := t.add(0, s.Signature); err != nil {
			return err
		}
	}
	return nil
}

func (t *safeForm) encode() ([]byte, error) { return rlp.EncodeToBytes(t) }

// finish returns the executor's transaction.
func (t *safeForm) finish() (chain.SignedTx, error) {
	if len(t.Sent) == 0 {
		return chain.SignedTx{}, fmt.Errorf("%w: %d of %d owners signed, and who sends it did not", chain.ErrColdIncomplete,
			len(t.Signed), t.Threshold)
	}
	call, err := t.call()
	if err != nil {
		return chain.SignedTx{}, err
	}
	raw, err := call.sealed(t.Sent)
	return chain.SignedTx{TxID: keccak(raw).String(), Raw: raw}, err
}
