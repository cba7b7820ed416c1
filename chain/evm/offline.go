package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
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
	_, err = c.ReadCold(request.Wallet, data) // what cannot be evaluated is not given out: a node may have lied
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
