package tron

import (
	"crypto/ecdsa"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// permissionOf is a permission's message.
func permissionOf(threshold int64, operations []byte, keys ...*ecdsa.PrivateKey) message {
	m := message(nil).number(4, threshold).bytes(6, operations)
	for _, key := range keys {
		m = m.bytes(7, message(nil).bytes(1, toBytes(crypto.PubkeyToAddress(key.PublicKey))).number(2, 1))
	}
	return m
}

// signedBy is a transaction with the signatures of several keys.
func signedBy(t *testing.T, tx *transaction, keys ...*ecdsa.PrivateKey) *transaction {
	t.Helper()
	raw := tx.encodeRaw()
	plain, err := parse(message(nil).bytes(txRaw, raw))
	if err != nil {
		t.Fatal(err)
	}
	whole := message(nil).bytes(txRaw, raw)
	for _, key := range keys {
		signature, err := crypto.Sign(plain.id[:], key)
		if err != nil {
			t.Fatal(err)
		}
		whole = whole.bytes(txSignature, signature)
	}
	signed, err := parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// A permission decides who signs: with too little weight, by an outsider, twice by one key, for another kind of
// contract, or by a permission that is not there nothing is taken, and each is java-tron's SIGERROR. More than one
// signature costs a TRX. Once the owner's permission is of other keys, the account's own key signs nothing.
func TestPermissionsOfSeveralKeys(t *testing.T) {
	t.Parallel()
	n, own, account := payer(t)
	if _, err := n.Pay(toBase58(account), 200_000_000); err != nil {
		t.Fatal(err)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	key := func(name string) *ecdsa.PrivateKey { return crypto.ToECDSAUnsafe(crypto.Keccak256([]byte(name))) }
	a, b, c, outsider := key("a"), key("b"), key("c"), key("an outsider")
	transfers := append([]byte{2}, make([]byte, 31)...) // bit 1: TransferContract
	to := common.Address{0: 9}
	tx := func(kind kind, permission int64) *transaction {
		x := &transaction{kind: kind, owner: account, to: to, amount: 1_000_000, permission: permission}
		n.anchor(x)
		return x
	}
	change := tx(update, 0)
	change.body = message(nil).bytes(1, toBytes(account)).bytes(2, permissionOf(2, nil, a, b)).
		bytes(4, permissionOf(2, transfers, a, b, c))
	light := tx(update, 0)
	light.body = message(nil).bytes(1, toBytes(account)).bytes(2, permissionOf(3, nil, a, b)).
		bytes(4, permissionOf(1, transfers, a))
	for name, refused := range map[string]*transaction{"a threshold out of reach": signedBy(t, light, own),
		"by an outsider": signedBy(t, change, outsider)} {
		if err := n.accept(refused); err == nil {
			t.Errorf("%s: got no error, want a refusal", name)
		}
	}
	if err := n.accept(signedBy(t, change, own)); err != nil {
		t.Fatal(err)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	call, again := tx(trigger, 2), tx(update, 0)
	call.to, again.body = n.token, change.body
	for name, refused := range map[string]*transaction{
		"the account's own key": signedBy(t, tx(transfer, 0), own),
		"too little weight":     signedBy(t, tx(transfer, 2), a),
		"an outsider":           signedBy(t, tx(transfer, 2), a, outsider),
		"one key twice":         signedBy(t, tx(transfer, 2), a, a),
		"more than its keys":    signedBy(t, tx(transfer, 2), a, b, c, outsider),
		"no such permission":    signedBy(t, tx(transfer, 3), a, b),
		"a call of a contract":  signedBy(t, call, a, b),
		"another change":        signedBy(t, again, a),
	} {
		var why *refusal
		if err := n.accept(refused); !errors.As(err, &why) || why.code != "SIGERROR" {
			t.Errorf("%s: got %v, want SIGERROR", name, err)
		}
	}
	before, err := n.Balance(toBase58(account), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.accept(signedBy(t, tx(transfer, 2), c, a)); err != nil {
		t.Fatal(err)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	after, err := n.Balance(toBase58(account), "")
	if err != nil {
		t.Fatal(err)
	}
	const cost = 1_000_000 + multiSignFee + activationPrice + activationNetwork
	if got := before.Sub(before, after).Int64(); got != cost {
		t.Errorf("two signatures cost %d sun, want %d with the payment and the new account", got, cost)
	}
}
