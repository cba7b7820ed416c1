package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/rlp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

var _ chain.OfflineBuilder = (*Chain)(nil)

// errCold is wrapped by errors of transactions from a cold wallet that are not as they must be.
var errCold = errors.New("not a transaction from this cold wallet")

// coldForm is a transaction from a cold wallet: one account's, or a Safe's.
type coldForm interface {
	contents(r *Rules) (chain.ColdTx, error)
	// add adds a signature to an input.
	add(input int, signature []byte) error
	// join adds what another copy has; two may be a signature alone.
	join(r *Rules, two []byte) error
	encode() ([]byte, error)
	finish() (chain.SignedTx, error)
}

// CheckCold checks that a wallet is an account or a Safe, whose address is one of the chain.
func (r *Rules) CheckCold(wallet bursar.ColdWallet) error {
	if wallet.Kind != bursar.ColdAddress && wallet.Kind != bursar.ColdSafe || wallet.Chain != r.cfg.ID ||
		len(wallet.Addresses) != 1 {
		return fmt.Errorf("%w: %s of %s is of kind %s, want one address, or a Safe, of %s", errCold, wallet.Name,
			wallet.Chain, wallet.Kind, r.cfg.ID)
	}
	if at, err := parseAddress(wallet.Addresses[0]); err != nil || at.String() != wallet.Addresses[0] {
		return fmt.Errorf("cold wallet %s: address %.100q is not in its one form", wallet.Name, wallet.Addresses[0])
	}
	return nil
}

// coldOf reads a transaction from a wallet.
func (r *Rules) coldOf(wallet bursar.ColdWallet, data []byte) (coldForm, error) {
	if err := r.CheckCold(wallet); err != nil {
		return nil, err
	}
	from, err := parseAddress(wallet.Addresses[0])
	if err != nil {
		return nil, err
	}
	if wallet.Kind == bursar.ColdSafe {
		return r.readSafe(from, data)
	}
	return r.readAccount(from, data)
}

// ReadCold reads a transaction from a cold wallet. Of an account it is the EIP-1559 transaction itself, signed or not,
// as EIP-2718 writes it; of a Safe it is the SafeTx with its owners and signatures, and the transaction that calls the
// contract. Either makes one payment, as Inspect reads it.
func (r *Rules) ReadCold(wallet bursar.ColdWallet, data []byte) (tx chain.ColdTx, err error) {
	defer chain.Wrap(&err, "read transaction from cold wallet %s", wallet.Name)
	form, err := r.coldOf(wallet, data)
	if err != nil {
		return chain.ColdTx{}, err
	}
	return form.contents(r)
}

// SignCold adds signatures, each of 65 bytes.
func (r *Rules) SignCold(
	wallet bursar.ColdWallet, data []byte, signatures []chain.ColdSignature,
) (_ []byte, err error) {
	defer chain.Wrap(&err, "add signatures to a transaction from cold wallet %s", wallet.Name)
	form, err := r.coldOf(wallet, data)
	if err != nil {
		return nil, err
	}
	for _, s := range signatures {
		if err := form.add(s.Input, s.Signature); err != nil {
			return nil, err
		}
	}
	return form.encode()
}

// CombineCold adds the signatures of another copy. The other may be a signature alone, of 65 bytes whose last is 0, 1,
// 27 or 28, as devices return it.
func (r *Rules) CombineCold(wallet bursar.ColdWallet, one, two []byte) (_ []byte, err error) {
	defer chain.Wrap(&err, "combine a transaction from cold wallet %s", wallet.Name)
	form, err := r.coldOf(wallet, one)
	if err != nil {
		return nil, err
	}
	if err := form.join(r, two); err != nil {
		return nil, err
	}
	return form.encode()
}

// FinishCold returns the signed transaction.
func (r *Rules) FinishCold(wallet bursar.ColdWallet, data []byte) (_ chain.SignedTx, err error) {
	defer chain.Wrap(&err, "finish a transaction from cold wallet %s", wallet.Name)
	form, err := r.coldOf(wallet, data)
	if err != nil {
		return chain.SignedTx{}, err
	}
	return form.finish()
}

// BuildCold builds a transaction with the next nonce of the wallet.
func (c *Chain) BuildCold(ctx context.Context, request chain.ColdRequest) (data []byte, err error) {
	defer chain.Wrap(&err, "build from cold wallet %s", request.Wallet.Name)
	if err := c.CheckCold(request.Wallet); err != nil {
		return nil, err
	}
	if request.Wallet.Kind == bursar.ColdSafe {
		data, err = c.buildSafe(ctx, request)
	} else {
		data, err = c.buildAccount(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	_, err = c.ReadCold(request.Wallet, data) // what cannot be judged is not given out: a node may have lied
	return data, err
}

// buildAccount builds as a payment from an address of ours is built.
func (c *Chain) buildAccount(ctx context.Context, request chain.ColdRequest) ([]byte, error) {
	usual := chain.TxRequest{
		Kind:     chain.KindWithdrawal,
		From:     chain.Source{Base: request.Wallet.Addresses[0], Key: chain.Hot(c.cfg.Family)},
		Payments: []chain.Payment{request.Payment},
		MaxFee:   request.MaxFee,
	}
	if len(request.Replaces) > 0 {
		old, err := c.replaced(request.Wallet, request.Replaces, usual.From)
		if err != nil {
			return nil, err
		}
		usual.Replaces = &chain.UnsignedTx{Bytes: old}
	}
	unsigned, err := c.Build(ctx, usual)
	if err != nil {
		return nil, err
	}
	e, _, err := c.unpack(unsigned.Bytes)
	return e.Payload, err
}

// replaced returns the transaction to replace as Build knows it.
func (r *Rules) replaced(wallet bursar.ColdWallet, data []byte, from chain.Source) ([]byte, error) {
	at, err := parseAddress(wallet.Addresses[0])
	if err != nil {
		return nil, err
	}
	t, err := r.readAccount(at, data)
	if err != nil {
		return nil, err
	}
	return r.pack(t.payload, from)
}

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
		return nil, fmt.Errorf("%w: it is no transaction of EIP-1559", errCold)
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
		err = fmt.Errorf("%w: it is by %s, want %s", ethkey.ErrSignature, address(got), want)
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
		return fmt.Errorf("%w: it is signed, or input %d is none", ethkey.ErrSignature, input)
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
			return fmt.Errorf("%w: it is another transaction", errCold)
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
