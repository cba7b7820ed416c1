package roster

import (
	"bytes"
	"crypto/ed25519"
	"flag"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/sshsig"
)

var update = flag.Bool("update", false, "write the golden files again")

const instance = "K7QJ3ZL2M5XW4RT6P8YN9VBHCD"

// noon is a Tuesday.
var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func signerOf(seed byte) ssh.Signer {
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)))
	if err != nil {
		panic(err)
	}
	return signer
}

func keyOf(seed byte) sshsig.Key {
	key, err := sshsig.NewKey(signerOf(seed).PublicKey())
	if err != nil {
		panic(err)
	}
	return key
}

func sign(t *testing.T, seed byte, namespace, text string) string {
	t.Helper()
	s, err := sshsig.Sign(signerOf(seed), namespace, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func value(text string) Value {
	v, err := parseValue(text)
	if err != nil {
		panic(err)
	}
	return v
}

// policy is that of docs/operations/approvals.md, nearly.
func policy() Policy {
	person := func(name string, seed byte, roles ...string) Person {
		return Person{Name: name, Until: noon.AddDate(1, 0, 0), Roles: roles, Keys: []sshsig.Key{keyOf(seed)}}
	}
	return Policy{
		Instance: instance, Network: "mainnet", Version: 1, Created: noon, NotBefore: noon, Authors: 2, Destinations: 2,
		Hold: 48 * time.Hour, Reference: "EUR",
		Assets: []Asset{
			{Name: "BTC", Chain: "bitcoin", Decimals: 8, Price: value("120000")},
			{Name: "USDT", Chain: "tron", Contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", Decimals: 6, Price: value("1.1")},
		},
		People: []Person{person("ann", 1, RoleApprover, RoleAuthor), person("bob", 2, RoleApprover, RoleAuthor),
			person("cat", 3, RoleApprover, RoleAuthor), person("dan", 4, "auditor")},
		Rules: []Rule{
			{ID: "small", For: []string{KindWithdrawal}, To: ToListed, Each: value("1000"),
				Windows: []Window{{time.Hour, value("5000")}, {24 * time.Hour, value("20000")}}},
			{ID: "large", For: []string{KindWithdrawal}, Assets: []string{"BTC"}, To: ToListed, Each: value("50000"), Need: 2,
				Role: RoleApprover, Hold: time.Hour, Hours: "Mon-Fri 07-19"},
			{ID: "sweeps", For: []string{KindConsolidation, KindSweep}, To: ToOwn},
			{ID: "gas", For: []string{KindGasTopUp}, To: ToOwn, Each: value("5"),
				Windows: []Window{{24 * time.Hour, value("300")}}},
			{ID: "never", Deny: true, For: []string{KindWithdrawal}, To: "bc1qbad"},
		},
	}
}

// bitcoins asks about a withdrawal in satoshis.
func bitcoins(units uint64) Question {
	return Question{Kind: KindWithdrawal, Chain: "bitcoin", To: bursar.Address{Base: "bc1qgood"},
		Units: bursar.Units(units),
		Now:   noon, Listed: true}
}

func order() approval.Order {
	return approval.Order{Instance: instance, Account: bursar.ID{1}, ID: bursar.ID{2}, Chain: "bitcoin",
		To: bursar.Address{Base: "bc1qgood"}, Units: bursar.Units(10_000_000), Created: noon,
		Expires: noon.Add(72 * time.Hour)}
}
