package consoletest

import (
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/passkey"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
)

// addRules adds what binds withdrawals: limits, keys with which a client signs, and a policy of the signer's.
func addRules(ctx context.Context, tx *store.Tx) error {
	for _, r := range []bursar.LimitRule{
		{AccountID: Shop, Currency: "BTC", Kind: bursar.LimitMaximum, Amount: bursar.Units(200_000_000)},
		{AccountID: Shop, Currency: "BTC", Kind: bursar.LimitDaily, Amount: bursar.Units(500_000_000)},
		{Currency: "USDT", Kind: bursar.LimitApproval, Amount: bursar.Units(5_000_000_000)},
	} {
		r.Actor, r.Reason = "Ada", "the shop is new"
		if err := tx.LimitRules().Set(ctx, r); err != nil {
			return err
		}
	}
	err := tx.OrderKeys().Insert(ctx, bursar.OrderKey{AccountID: Shop, ID: strings.Repeat("4e", 16),
		Name: "the shop's server", Public: "MCowBQYDK2VwAyEA", CreatedAt: Now.AddDate(0, 0, -9),
		UsableFrom: Now.AddDate(0, 0, -7)})
	if err != nil {
		return err
	}
	p, err := policy()
	if err != nil {
		return err
	}
	return tx.Settings().NotePolicy(ctx, store.PolicyText{Instance: p.Instance, Text: p.Text()})
}

// keyOfNobody is a public key that is the same in each picture: its private key is 1.
func keyOfNobody() (k passkey.Key, err error) {
	private, err := ecdh.P256().NewPrivateKey(append(make([]byte, 31), 1))
	if err != nil {
		return k, err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), private.PublicKey().Bytes())
	if err != nil {
		return k, err
	}
	return passkey.NewKey(public)
}

// policy is that of a signer, in which a passkey approves withdrawals.
func policy() (p roster.Policy, err error) {
	site, err := passkey.ParseOrigin("http://localhost:8081")
	if err != nil {
		return p, err
	}
	key, err := keyOfNobody()
	begun := Now.AddDate(0, -1, 0)
	return roster.Policy{Instance: "K7QJ3ZL2M5XW4RT6P8YN9VBHCD", Network: "mainnet", Version: 1, Created: begun,
		NotBefore: begun, Authors: 1, Destinations: 1, Reference: "EUR", Site: site,
		Assets: []roster.Asset{{Name: "BTC", Chain: bursar.Bitcoin, Decimals: 8, Price: bursar.Units(78_000)}},
		Rules: []roster.Rule{{ID: "seen", For: []string{roster.KindWithdrawal}, To: roster.ToAny, Need: 1,
			Role: roster.RoleApprover, Keys: []roster.KeyKind{roster.KeyPasskey}}},
		People: []roster.Person{{Name: "ada", Until: Now.AddDate(1, 0, 0),
			Roles: []string{roster.RoleApprover, roster.RoleAuthor}, Passkeys: []passkey.Key{key}}}}, err
}
