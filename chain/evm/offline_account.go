package evm

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

// accountTx is a transaction of one key's account.
type accountTx struct {
	payload   payload
	from      address
	family    bursar.Family
	signature []byte // empty: not signed
}

func (r *Rules) readAccount(from address, data []byte) (*accountTx, error) {
	t := &accountTx{from: from, family: r.cfg.Family}
	if len(data) == 0 || data[0] != feeMarketType {
		return nil, fmt.Errorf("%w: the text is no transaction of EIP-1559", errCold)
	}
	if err := rlp.DecodeBytes(data[1:], &t.payload); err != nil {
		var signed signedPayload
		if err := rlp.DecodeBytes(data[1:], &signed); err != nil {
			return nil, fmt.Errorf("%w: %w", errCold, err)
		}
		t.payload = payload{signed.ChainID, signed.Nonce, signed.Tip, signed.MaxFee, signed.Gas, signed.To, signed.Value,
			signed.Data, signed.Access}
		if signed.R.BitLen() > 256 || signed.S.BitLen() > 256 || signed.YParity > 1 {
			return nil, ethkey.ErrSignature
		}
		t.signature = append(append(signed.R.FillBytes(make([]byte, 32)), signed.S.FillBytes(make([]byte, 32))...),
			byte(signed.YParity))
		if err := t.check(t.signature); err != nil {
			return nil, err
		}
	}
	if t.payload.ChainID != r.cfg.ChainID {
		return nil, fmt.Errorf("%w: chain id %d, want %d", errCold, t.payload.ChainID, r.cfg.ChainID)
	}
	if again, err := t.encode(); err != nil || !bytes.Equal(again, data) {
		return nil, fmt.Errorf("%w: the encoding is not canonical", errCold)
	}
	return t, nil
}

// check refuses a signature that is not the account's over this transaction.
func (t *accountTx) check(signature []byte) error {
	digest, err := t.payload.digest()
	if err != nil {
		return err
	}
	return madeBy(digest, signature, t.from)
}

// madeBy refuses a signature that was not made by an account.
func madeBy(digest hash, signature []byte, want address) error {
	got, err := ethkey.Signer(digest, signature)
	if err == nil && got != want {
		err = fmt.Errorf("%w: the signature is by %s, want %s", ethkey.ErrSignature, address(got), want)
	}
	return err
}

// encoded returns the type byte and the payload's RLP.
func (p *payload) encoded() ([]byte, error) {
	body, err := rlp.EncodeToBytes(p)
	return append([]byte{feeMarketType}, body...), err
}

// digest is what the payer of a transaction signs.
func (p *payload) digest() (hash, error) {
	body, err := p.encoded()
	return keccak(body), err
}

func (t *accountTx) contents(r *Rules) (chain.ColdTx, error) {
	payment, err := r.payment(t.payload)
	if err != nil {
		return chain.ColdTx{}, err
	}
	fee, err := t.payload.fee()
	if err != nil {
		return chain.ColdTx{}, err
	}
	digest, err := t.payload.digest()
	return chain.ColdTx{
		Payments:     []chain.Payment{payment},
		Fee:          fee,
		Weight:       t.payload.Gas,
		Reservations: []string{fmt.Sprintf("%s/%d", t.from, t.payload.Nonce)},
		Notes:        []chain.ColdNote{{Name: "chain id", Text: fmt.Sprint(t.payload.ChainID)}},
		Inputs: []chain.ColdInput{{Digest: digest[:], Need: 1,
			Keys: []chain.ColdKey{coldKey(t.family, t.from, len(t.signature) > 0)}}},
	}, err
}

// coldKey is an account whose key may sign. The first own key of a seed is that of its cold account.
func coldKey(family bursar.Family, of address, signed bool) chain.ColdKey {
	return chain.ColdKey{Account: of.String(), Key: chain.Hot(family), Signed: signed}
}

func (t *accountTx) add(input int, signature []byte) error {
	if input != 0 || len(t.signature) > 0 {
		return fmt.Errorf("%w: the transaction is signed, or has no input %d", ethkey.ErrSignature, input)
	}
	if err := t.check(signature); err != nil {
		return err
	}
	t.signature = signature
	return nil
}

func (t *accountTx) join(r *Rules, two []byte) error {
	signature := bare(two)
	if signature == nil {
		other, err := r.readAccount(t.from, two)
		if err != nil {
			return err
		}
		mine, err1 := t.payload.encoded()
		theirs, err2 := other.payload.encoded()
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		if !bytes.Equal(mine, theirs) {
			return fmt.Errorf("%w: the bundle has another transaction", errCold)
		}
		signature = other.signature
	}
	if len(signature) == 0 || len(t.signature) > 0 {
		return nil
	}
	return t.add(0, signature)
}

// bare returns what is a signature alone, with the recovery id as the last byte; nil if it is something else.
func bare(data []byte) []byte {
	if len(data) != ethkey.SignatureSize {
		return nil
	}
	signature := bytes.Clone(data)
	if signature[64] >= 27 {
		signature[64] -= 27
	}
	return signature
}

func (t *accountTx) encode() ([]byte, error) {
	if len(t.signature) == 0 {
		return t.payload.encoded()
	}
	return t.payload.sealed(t.signature)
}

// sealed returns the raw transaction with a signature.
func (p *payload) sealed(signature []byte) ([]byte, error) {
	body, err := rlp.EncodeToBytes(&signedPayload{
		p.ChainID, p.Nonce, p.Tip, p.MaxFee, p.Gas, p.To, p.Value, p.Data, p.Access, uint64(signature[64]),
		new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:64]),
	})
	return append([]byte{feeMarketType}, body...), err
}

func (t *accountTx) finish() (chain.SignedTx, error) {
	if len(t.signature) == 0 {
		return chain.SignedTx{}, chain.ErrColdIncomplete
	}
	raw, err := t.encode()
	return chain.SignedTx{TxID: keccak(raw).String(), Raw: raw}, err
}
