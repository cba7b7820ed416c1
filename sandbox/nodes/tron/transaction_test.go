package tron

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// payer is a node with an account that holds ten TRX.
func payer(t *testing.T) (*Node, *ecdsa.PrivateKey, common.Address) {
	t.Helper()
	n, err := Start(context.Background(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	key := crypto.ToECDSAUnsafe(crypto.Keccak256([]byte("a payer")))
	own := crypto.PubkeyToAddress(key.PublicKey)
	if _, err := n.Pay(toBase58(own), 10_000_000); err != nil {
		t.Fatal(err)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	return n, key, own
}

// TestRefusals checks which transactions java-tron refuses, and with which codes.
func TestRefusals(t *testing.T) {
	t.Parallel()
	external := crypto.ToECDSAUnsafe(crypto.Keccak256([]byte("an external account")))
	poor := crypto.PubkeyToAddress(external.PublicKey)
	cases := map[string]struct {
		spoil func(tx *transaction, n *Node)
		key   *ecdsa.PrivateKey
		code  string
		ret   string // once mined
	}{
		"sound":               {ret: "SUCCESS"},
		"another's signature": {key: external, code: "SIGERROR"},
		"no signature":        {key: &ecdsa.PrivateKey{}, code: "SIGERROR"},
		"expired": {spoil: func(tx *transaction, n *Node) {
			tx.expiration = n.head().time
		}, code: "TRANSACTION_EXPIRATION_ERROR"},
		"too far ahead": {spoil: func(tx *transaction, n *Node) {
			tx.expiration = n.head().time + longest + 1
		}, code: "TRANSACTION_EXPIRATION_ERROR"},
		"another block's hash": {spoil: func(tx *transaction, n *Node) { tx.refHash = make([]byte, 8) }, code: "TAPOS_ERROR"},
		"a block to come":      {spoil: func(tx *transaction, n *Node) { tx.refBytes = []byte{0, 99} }, code: "TAPOS_ERROR"},
		"no reference":         {spoil: func(tx *transaction, n *Node) { tx.refBytes = nil }, code: "TAPOS_ERROR"},
		"too much": {spoil: func(tx *transaction, n *Node) {
			tx.amount = 10_000_001
		}, code: "CONTRACT_VALIDATE_ERROR"},
		"nothing":       {spoil: func(tx *transaction, n *Node) { tx.amount = 0 }, code: "CONTRACT_VALIDATE_ERROR"},
		"negative":      {spoil: func(tx *transaction, n *Node) { tx.amount = -5 }, code: "CONTRACT_VALIDATE_ERROR"},
		"to oneself":    {spoil: func(tx *transaction, n *Node) { tx.to = tx.owner }, code: "CONTRACT_VALIDATE_ERROR"},
		"to a contract": {spoil: func(tx *transaction, n *Node) { tx.to = n.token }, code: "CONTRACT_VALIDATE_ERROR"},
		"without a sender": {spoil: func(tx *transaction, n *Node) {
			tx.owner = poor
		}, key: external, code: "CONTRACT_VALIDATE_ERROR"},
		"a call without a sender": {spoil: func(tx *transaction, n *Node) {
			tx.kind, tx.to = trigger, poor
		}, code: "CONTRACT_VALIDATE_ERROR"},
		"a limit above the maximum": {spoil: func(tx *transaction, n *Node) {
			tx.kind, tx.to, tx.feeLimit = trigger, n.token, maxFeeLimit+1
		}, code: "CONTRACT_VALIDATE_ERROR"},
		"another kind": {spoil: func(tx *transaction, n *Node) { tx.kind = 2 }, code: "CONTRACT_VALIDATE_ERROR"},
		"activation beyond the balance": {spoil: func(tx *transaction, n *Node) {
			tx.to, tx.amount = poor, 9_000_000
		}, code: "CONTRACT_VALIDATE_ERROR"},
		"no energy at all": {spoil: func(tx *transaction, n *Node) {
			tx.kind, tx.to, tx.amount, tx.data = trigger, n.token, 0, callAddress("balanceOf(address)", poor)
		}, ret: "OUT_OF_ENERGY"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, key, own := payer(t)
			tx := &transaction{kind: transfer, owner: own, to: n.bank, amount: 1_000}
			n.anchor(tx)
			if test.spoil != nil {
				test.spoil(tx, n)
			}
			if test.key != nil {
				key = test.key
			}
			if key.D == nil { //nolint:staticcheck // a test asks whether there is a key at all
				key = nil
			}
			whole, err := tx.build(key)
			if err != nil {
				t.Fatal(err)
			}
			if code, words := n.take(whole); code != test.code {
				t.Fatalf("%q %q, want %q", code, words, test.code)
			}
			if test.code != "" {
				return
			}
			for range 2 {
				if code, _ := n.take(whole); code != "DUP_TRANSACTION_ERROR" {
					t.Fatalf("the second time: %q, want %q", code, "DUP_TRANSACTION_ERROR")
				}
				if err := n.Mine(1); err != nil {
					t.Fatal(err)
				}
			}
			p, mined := n.places[whole.id]
			if !mined || n.blocks[p.height].txs[p.index].contractRet != test.ret {
				t.Fatalf("mined %v at %v, want %s", mined, p, test.ret)
			}
		})
	}
}

// TestExpiresInThePool checks that a transaction that waits too long leaves the pool.
func TestExpiresInThePool(t *testing.T) {
	t.Parallel()
	n, key, own := payer(t)
	tx := &transaction{kind: transfer, owner: own, to: n.bank, amount: 1_000}
	n.anchor(tx)
	tx.expiration = n.head().time + 1
	whole, err := tx.build(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.accept(whole); err != nil {
		t.Fatal(err)
	}
	if err := n.Reorg(1, nil); err != nil { // time passes before it is in a block
		t.Fatal(err)
	}
	if err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	if _, mined := n.places[whole.id]; mined || n.pooled[whole.id] {
		t.Fatal("the expired transaction is still in the pool")
	}
}

// TestReadRefuses checks that bytes that are not a transaction are errors, not refusals.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "0a", "0a02ffff", "1200", "0a0108", "0b"} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		var refused *refusal
		if _, err := parse(raw); err == nil || errors.As(err, &refused) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
