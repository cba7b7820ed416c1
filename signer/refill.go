package signer

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Refill is what a transaction from a cold wallet is asked to do: one payment to the hot wallet, and nothing else.
type Refill struct {
	ID      bursar.ID
	Wallet  bursar.ColdWallet
	Payment chain.Payment

	MaxFee  bursar.Amount // in the native asset
	MaxRate bursar.Amount // the highest fee per unit of ColdTx.Weight; zero: only MaxFee bounds the fee
}

// ErrNoKey says that nothing of a transaction from a cold wallet can be signed with a seed.
var ErrNoKey = errors.New("no key of this seed may sign it")

// Evaluate reads a transaction from a cold wallet and compares it with the refill; home is the address of the hot
// wallet, which the caller derived itself. The offline machine evaluates by it before it signs, and the online machine
// before it broadcasts. What is refused is a *RefusalError: any other payment, another destination than home, a fee
// above the bounds.
func (r Refill) Evaluate(rules chain.OfflineRules, home string, unsigned []byte) (chain.ColdTx, error) {
	if (r.Payment.Address != bursar.Address{Base: home}) || home == "" {
		return chain.ColdTx{}, r.refuse(ReasonDestination, "it pays %s: a refill pays the hot wallet, %q, and nobody else",
			r.Payment.Address, home)
	}
	if r.Payment.Amount.IsZero() || r.Wallet.Has(home) {
		return chain.ColdTx{}, r.refuse(ReasonRequest, "it pays nothing, or the hot wallet's address is said to be cold")
	}
	tx, err := rules.ReadCold(r.Wallet, unsigned)
	if err != nil {
		return chain.ColdTx{}, r.refuse(ReasonUnreadable, "%v", err)
	}
	if len(tx.Payments) != 1 || tx.Payments[0] != r.Payment {
		return chain.ColdTx{}, r.refuse(ReasonExternal, "its bytes pay %v, the refill is %v", tx.Payments, r.Payment)
	}
	return tx, r.feeIsBounded(tx)
}

func (r Refill) feeIsBounded(tx chain.ColdTx) error {
	if r.MaxFee.Less(tx.Fee) {
		return r.refuse(ReasonFee, "the fee is %s: at most %s are allowed", tx.Fee, r.MaxFee)
	}
	if r.MaxRate.IsZero() {
		return nil
	}
	rate, rest := tx.Fee.Div(max(tx.Weight, 1))
	if r.MaxRate.Less(rate) || rate == r.MaxRate && rest > 0 {
		return r.refuse(ReasonRate, "a fee of %s for a weight of %d: at most %s per unit are allowed", tx.Fee, tx.Weight,
			r.MaxRate)
	}
	return nil
}

func (r Refill) refuse(reason Reason, format string, args ...any) error {
	return &RefusalError{Chain: r.Wallet.Chain, OutgoingID: r.ID, Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// passes is how often a transaction is read again for what its new signatures let be signed: a contract's call is
// signed by who sends it once its owners' signatures are in it.
const passes = 2

// SignRefill evaluates a transaction from a cold wallet and adds the signatures of every key of it that is of this
// seed. It is deterministic. The error is a *RefusalError, or ErrNoKey if there is nothing to add: the seed is another
// one, or has signed it.
func (k *Keys) SignRefill(rules chain.OfflineRules, r Refill, home string, unsigned []byte) ([]byte, error) {
	signed, added := unsigned, 0
	for range passes {
		tx, err := r.Evaluate(rules, home, signed)
		if err != nil {
			return nil, err
		}
		signatures, err := k.signCold(rules, tx)
		if err != nil {
			return nil, fmt.Errorf("sign refill %s: %w", r.ID, err)
		}
		if len(signatures) == 0 {
			break
		}
		if signed, err = rules.SignCold(r.Wallet, signed, signatures); err != nil {
			return nil, err
		}
		added += len(signatures)
	}
	if added == 0 {
		return nil, fmt.Errorf("sign refill %s: %w, or it has signed it already", r.ID, ErrNoKey)
	}
	return signed, nil
}

// signCold signs with every key of an evaluated transaction that is of this seed and has not signed.
func (k *Keys) signCold(rules chain.OfflineRules, tx chain.ColdTx) (signatures []chain.ColdSignature, err error) {
	for i, input := range tx.Inputs {
		for _, key := range input.Keys {
			ref, public, ours := k.coldKey(rules, key)
			if key.Signed || !ours {
				continue // a device's key, or one of another seed
			}
			digest := input.Digest
			if key.Digest != nil {
				digest = key.Digest(public)
			}
			signature, err := k.sign(ref, digest)
			if err != nil {
				return nil, fmt.Errorf("input %d: %w", i, err)
			}
			signatures = append(signatures, chain.ColdSignature{Input: i, Public: public, Signature: signature})
		}
	}
	return signatures, nil
}

// coldKey returns the key of the seed of an epoch that has begun, the first or one that followed, which may sign as one
// of a cold wallet. A wallet that was made of an earlier epoch's key keeps it until its money is moved.
func (k *Keys) coldKey(rules chain.OfflineRules, key chain.ColdKey) (chain.KeyRef, chain.PublicKey, bool) {
	for e := range k.Epoch() + 1 {
		ref := key.Key.In(e)
		if public, err := k.Public(ref); err == nil && isCold(rules, key, public) {
			return ref, public, true
		}
	}
	return chain.KeyRef{}, nil, false
}

// isCold reports whether a public key is the one that may sign.
func isCold(rules chain.OfflineRules, key chain.ColdKey, public chain.PublicKey) bool {
	if key.Account == "" {
		return bytes.Equal(public, key.Public)
	}
	account, err := rules.Address(public, 0)
	return err == nil && account == bursar.Address{Base: key.Account}
}

// fingerprintOf returns the first bytes of a public key's hash, by which BIP 32 names keys.
func fingerprintOf(public []byte) [4]byte { return [4]byte(address.Hash160(public)) }

// KeyExpression returns a family's account key in the epoch in force as descriptors have it (BIP 380): fingerprint of
// the master key, path, and extended public key. The error is ErrUnknownFamily for families on ed25519.
func (k *Keys) KeyExpression(family bursar.Family) (string, error) {
	k = k.all()[k.Epoch()]
	xpub, found := k.public.xpubs[family]
	if !found {
		return "", fmt.Errorf("%w: %q on secp256k1", ErrUnknownFamily, family)
	}
	p := paths[family]
	return fmt.Sprintf("[%x/%dh/%dh/0h]%s", k.master, p.Purpose, p.slip44On(k.public.network), xpub), nil
}
