package client_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/signer/people"
)

// orders registers two keys at the service and at its signer, and pays with each what the client signed.
func (s *harness) orders() {
	ctx := s.Context()
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	s.need(err)
	edwards := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{5}, ed25519.SeedSize))
	for _, key := range []crypto.Signer{p256, edwards} {
		public, err := orderkey.New(key.Public())
		s.need(err)
		_, err = s.service.Accounts.AddOrderKey(ctx, s.issued.AccountID, "key", public.String(), 0)
		s.need(err)
		k := approval.OrderKey{Account: s.issued.AccountID, ID: public.ID(), Key: public.String(), Name: "key"}
		_, err = people.KeyOnMachine(ctx, s.memory, k, 0, "ann", s.clock.Now())
		s.need(err)
	}
	n := client.NewWithdrawal{Currency: "COIN", Amount: "0.1", Address: s.node.Named("supplier"),
		IdempotencyKey: "payment 8", Created: s.clock.Now(), MaxFee: "1000000"}
	if _, err := s.Withdraw(ctx, n); client.CodeOf(err) != client.OrderSignatureRequired {
		s.Errorf("unsigned: got %v, want %s", err, client.OrderSignatureRequired)
	}
	var keys client.OrderKeys
	s.eventually("the signer's instance is known", func() bool {
		keys, err = s.OrderKeys(ctx)
		s.need(err)
		return keys.Instance != ""
	})
	if !keys.Required || len(keys.Keys) != 2 || !keys.Keys[1].Usable || keys.Keys[1].Name != "key" {
		s.Errorf("the keys are %+v, want two that are usable", keys)
	}
	signs := client.Orders{Account: s.issued.AccountID.String(), Instance: keys.Instance, Now: s.clock.Now,
		Assets: map[string]client.Asset{"COIN": {Chain: string(bursar.Bitcoin), Decimals: 8}}}
	for i, key := range []crypto.Signer{p256, edwards} {
		signs.Key = key
		n.IdempotencyKey += "!"
		s.ordered(signs, n, uint64(i+1)*10_000_000)
	}
}

// ordered pays one order, and takes it only once.
func (s *harness) ordered(signs client.Orders, n client.NewWithdrawal, paid uint64) {
	ctx := s.Context()
	config := client.Config{BaseURL: s.service.Address("api"), Key: s.issued.APIKey, Secret: s.issued.APISecret,
		Orders: &signs}
	c, err := client.New(config)
	s.need(err)
	w, err := c.Withdraw(ctx, n)
	s.need(err)
	batch := n
	batch.Reference, batch.IdempotencyKey, batch.Amount = n.IdempotencyKey+" of a batch", "", "1000"
	each, err := c.WithdrawEach(ctx, []client.NewWithdrawal{batch})
	if s.need(err); len(each) != 1 || each[0].Err == nil || each[0].Err.Code != client.InsufficientBalance {
		s.Errorf("an order of a batch that no balance covers gives %+v, want %s", each, client.InsufficientBalance)
	}
	again, err := c.Withdraw(ctx, n) // P-256 signs it in another way
	if s.need(err); again.WithdrawalID != w.WithdrawalID {
		s.Errorf("the same order gives %+v, want %s", again, w.WithdrawalID)
	}
	n.Order, err = signs.Order(n)
	s.need(err)
	if again, err = s.Withdraw(ctx, n); err != nil || again.WithdrawalID != w.WithdrawalID {
		s.Errorf("the order that was stored gives %+v, %v, want %s", again, err, w.WithdrawalID)
	}
	other := n
	other.Amount, other.Order = "0.2", client.SignedOrder{}
	if _, err := c.Withdraw(ctx, other); client.CodeOf(err) != client.IdempotencyConflict {
		s.Errorf("another order under its ID: got %v, want %s", err, client.IdempotencyConflict)
	}
	s.eventually("the order is paid", func() bool {
		s.node.Mine(1)
		got, err := s.Withdrawal(ctx, w.WithdrawalID)
		s.need(err)
		return got.Status == client.WithdrawalConfirmed
	})
	if got := s.node.Balance(n.Address, ""); got != bursar.Units(paid) {
		s.Errorf("the supplier holds %s, want %d", got, paid)
	}
}

// The client writes the text with code of its own, as package approval does.
func TestAnOrderIsWrittenAsTheServiceReadsIt(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	now := time.Date(2026, 11, 24, 12, 0, 0, 5e8, time.UTC)
	account := bursar.ID{1}
	o := client.Orders{Key: key, Account: account.String(), Instance: "I", Now: func() time.Time { return now },
		Assets: map[string]client.Asset{"USDT": {Chain: "tron", Contract: "T1", Decimals: 6},
			"XRP": {Chain: "xrpl", Decimals: 6}}}
	for name, test := range map[string]struct {
		n    client.NewWithdrawal
		want approval.Order
	}{
		"a token": {client.NewWithdrawal{Currency: "USDT", Amount: "1.5", Address: "T2", IdempotencyKey: "a", MaxFee: "7"},
			approval.Order{Chain: "tron", Contract: "T1", To: bursar.Address{Base: "T2"}, Units: bursar.Units(1_500_000),
				MaxFee: bursar.Units(7)}},
		"with a tag": {client.NewWithdrawal{Currency: "XRP", Amount: "0.000001", Address: "r1:0", IdempotencyKey: "a"},
			approval.Order{Chain: "xrpl", To: bursar.Address{Base: "r1", HasMemo: true}, Units: bursar.Units(1)}},
	} {
		got, err := o.Order(test.n)
		if err != nil {
			t.Fatal(err)
		}
		read, err := approval.ParseOrder(got.Text)
		want := test.want
		want.Instance, want.Account, want.ID = "I", account, read.ID
		want.Created = now.Truncate(time.Second)
		want.Expires = want.Created.Add(time.Hour)
		if err != nil || read != want || read.ID.IsZero() {
			t.Errorf("%s: got %+v, %v, want %+v", name, read, err, want)
		}
		if again, err := o.Order(test.n); err != nil || again != got {
			t.Errorf("%s: got %+v, %v, want the same again", name, again, err)
		}
	}
}

func TestWhatCannotBeOrdered(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	o := client.Orders{Key: key, Account: "a", Instance: "I",
		Assets: map[string]client.Asset{"BTC": {Chain: "bitcoin", Decimals: 8}}}
	good := client.NewWithdrawal{Currency: "BTC", Amount: "1", Address: "b", IdempotencyKey: "k"}
	if _, err := o.Order(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(n *client.NewWithdrawal){
		"a currency that is not pinned": func(n *client.NewWithdrawal) { n.Currency = "WBTC" },
		"too many decimals":             func(n *client.NewWithdrawal) { n.Amount = "0.000000001" },
		"a sign":                        func(n *client.NewWithdrawal) { n.Amount = "+1" },
		"no whole part":                 func(n *client.NewWithdrawal) { n.Amount = ".1" },
		"no fraction":                   func(n *client.NewWithdrawal) { n.Amount = "1." },
		"an exponent":                   func(n *client.NewWithdrawal) { n.Amount = "1e3" },
		"nothing":                       func(n *client.NewWithdrawal) { n.Amount = "0.0" },
		"a memo that is no number":      func(n *client.NewWithdrawal) { n.Address = "r:x" },
		"a line break":                  func(n *client.NewWithdrawal) { n.Address = "b\ntag: 7" },
		"no key of its own":             func(n *client.NewWithdrawal) { n.IdempotencyKey = "" },
	} {
		n := good
		change(&n)
		if got, err := o.Order(n); err == nil {
			t.Errorf("%s: got %q, want an error", name, got.Text)
		}
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o *client.Orders){
		"no key":      func(o *client.Orders) { o.Key = nil },
		"no instance": func(o *client.Orders) { o.Instance = "" },
		"no assets":   func(o *client.Orders) { o.Assets = nil },
		"too long":    func(o *client.Orders) { o.For = 31 * 24 * time.Hour },
	} {
		wrong := o
		change(&wrong)
		if _, err := client.New(client.Config{BaseURL: "https://x", Key: "k", Orders: &wrong}); err == nil {
			t.Errorf("%s: got a client, want an error", name)
		}
	}
	if _, err := client.SignOrder(p384, "text"); err == nil || !strings.Contains(err.Error(), "P-256") {
		t.Errorf("P-384: got %v, want an error", err)
	}
}
