package ceremony_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
)

// A bundle comes from the machine that faces the network. Whatever is read is written the same.
func FuzzRead(f *testing.F) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, w := range []bursar.ColdWallet{
		{Chain: bursar.Bitcoin, Name: "vault", Kind: bursar.ColdDescriptor, Addresses: []string{"a", "b"}, Descriptor: "d"},
		{Chain: bursar.Tron, Name: "vault", Kind: bursar.ColdPermission, Addresses: []string{"a"}, PermissionID: 3},
		{Chain: bursar.Solana, Name: "vault", Kind: bursar.ColdNonce, Addresses: []string{"a"}, NonceAccount: "n"},
		{Chain: bursar.XRPL, Name: "vault", Kind: bursar.ColdAddress, Addresses: []string{"a"}},
	} {
		b := ceremony.Bundle{Instance: "i", Network: "mainnet", ID: bursar.ID{1}, Wallet: w, MaxFee: bursar.Units(1),
			Payment: chain.Payment{Address: bursar.Address{Base: "home"}, Amount: bursar.Units(5)}, Created: at,
			Expires: at.Add(time.Hour), Bytes: []byte{1, 2, 3}}
		if w.Kind == bursar.ColdAddress {
			b.Height = 98_000_000
		}
		f.Add(b.Text())
	}
	f.Fuzz(func(t *testing.T, text string) {
		if b, err := ceremony.Read(text); err == nil && b.Text() != text {
			t.Errorf("%q was read, and is written as %q", text, b.Text())
		}
	})
}
