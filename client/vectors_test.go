package client_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
)

var updateVectors = flag.Bool("update", false, "write clients/vectors/orders.json")

// vectors are orders as every client writes and signs them, and payments that none of them signs.
type vectors struct {
	PrivateKey string `json:"privateKey"`
	KeyID      string `json:"keyID"`
	Orders     struct {
		Account  string                 `json:"account"`
		Instance string                 `json:"instance"`
		For      int                    `json:"for"`
		Assets   map[string]vectorAsset `json:"assets"`
	} `json:"orders"`
	Signed  []vector `json:"signed"`
	Refused []vector `json:"refused"`
}

type vectorAsset struct {
	Chain    string `json:"chain"`
	Contract string `json:"contract,omitempty"`
	Decimals int    `json:"decimals"`
}

type vector struct {
	Name      string  `json:"name"`
	Payment   payment `json:"payment"`
	Text      string  `json:"text,omitempty"`
	Signature string  `json:"signature,omitempty"`
}

type payment struct {
	Currency       string `json:"currency"`
	Amount         string `json:"amount"`
	Address        string `json:"address"`
	IdempotencyKey string `json:"idempotencyKey"`
	Created        int64  `json:"created"`
	MaxFee         string `json:"maxFee,omitempty"`
}

// withdrawal returns the payment as the Go client accepts it.
func (p payment) withdrawal() client.NewWithdrawal {
	return client.NewWithdrawal{
		Currency:       p.Currency,
		Amount:         p.Amount,
		Address:        p.Address,
		IdempotencyKey: p.IdempotencyKey,
		Created:        time.Unix(p.Created, 0),
		MaxFee:         p.MaxFee,
	}
}

// inputs returns the vectors without what is signed.
func inputs(t *testing.T, key ed25519.PrivateKey) (v vectors) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	v.PrivateKey = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	if v.KeyID, err = client.OrderKeyID(key.Public()); err != nil {
		t.Fatal(err)
	}
	v.Orders.Account, v.Orders.Instance, v.Orders.For = "0193a6a0-0000-7000-8000-000000000000", "K7QJ3ZL2M5XW4RT6", 7200
	v.Orders.Assets = map[string]vectorAsset{
		"BTC":       {Chain: "bitcoin", Decimals: 8},
		"ETH":       {Chain: "ethereum", Decimals: 18},
		"XRP":       {Chain: "xrpl", Decimals: 6},
		"USDT-TRON": {Chain: "tron", Contract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", Decimals: 6},
	}
	good := payment{Currency: "BTC", Amount: "0.015", Address: "bc1q", IdempotencyKey: "payment 8", Created: 1_800_000_000}
	with := func(name string, change func(*payment)) vector {
		p := good
		change(&p)
		return vector{Name: name, Payment: p}
	}
	v.Signed = []vector{
		with("the native asset with a bound of the fee", func(p *payment) { p.MaxFee = "20000" }),
		with("a token", func(p *payment) { p.Currency, p.Amount, p.Address = "USDT-TRON", "1.5", "T2" }),
		with("a tag", func(p *payment) { p.Currency, p.Amount, p.Address = "XRP", "0.000001", "r1:4294967295" }),
		with("no tag and tag 0 differ", func(p *payment) { p.Currency, p.Amount, p.Address = "XRP", "25", "r1:0" }),
		with("more than a machine's number",
			func(p *payment) { p.Currency, p.Amount = "ETH", "123456789012.000000000000000001" }),
		with("zeros", func(p *payment) { p.Amount = "00.50000000" }),
		with("a key that is not ASCII", func(p *payment) { p.IdempotencyKey = "payé 8" }),
		with("a year later", func(p *payment) { p.Created += 366 * 24 * 3600 }),
	}
	v.Refused = []vector{
		with("a currency that is not pinned", func(p *payment) { p.Currency = "WBTC" }),
		with("too many decimals", func(p *payment) { p.Amount = "0.000000001" }),
		with("a sign", func(p *payment) { p.Amount = "+1" }),
		with("a space", func(p *payment) { p.Amount = " 1" }),
		with("a line break in the amount", func(p *payment) { p.Amount = "1\n" }),
		with("no whole part", func(p *payment) { p.Amount = ".1" }),
		with("no fraction", func(p *payment) { p.Amount = "1." }),
		with("an exponent", func(p *payment) { p.Amount = "1e3" }),
		with("other digits", func(p *payment) { p.Amount = "١" }),
		with("nothing", func(p *payment) { p.Amount = "0.0" }),
		with("a memo that is no number", func(p *payment) { p.Address = "r:x" }),
		with("no memo", func(p *payment) { p.Address = "r:" }),
		with("a memo that is too large", func(p *payment) { p.Address = "r:4294967296" }),
		with("a line break", func(p *payment) { p.Address = "b\ntag: 7" }),
		with("no key of its own", func(p *payment) { p.IdempotencyKey = "" }),
	}
	return v
}

// TestTheSharedVectorsOfOrders checks clients/vectors/orders.json, with which the clients of other languages are
// tested: it holds what this client signs, and what the service reads.
func TestTheSharedVectorsOfOrders(t *testing.T) {
	t.Parallel()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	v := inputs(t, key)
	o := client.Orders{Key: key, Account: v.Orders.Account, Instance: v.Orders.Instance,
		For: time.Duration(v.Orders.For) * time.Second, Assets: map[string]client.Asset{}}
	for code, a := range v.Orders.Assets {
		o.Assets[code] = client.Asset(a)
	}
	public, err := orderkey.New(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range v.Signed {
		signed, err := o.Order(one.Payment.withdrawal())
		if err != nil {
			t.Fatalf("%s: %v", one.Name, err)
		}
		signature, err := orderkey.ParseSignature(signed.Signature)
		if err != nil || public.Verify(signed.Text, signature) != nil {
			t.Errorf("%s: got %v of %s, want a signature that verifies", one.Name, err, signed.Signature)
		}
		if _, err := approval.ParseOrder(signed.Text); err != nil {
			t.Errorf("%s: got %v, want an order that the service reads", one.Name, err)
		}
		v.Signed[i].Text, v.Signed[i].Signature = signed.Text, signed.Signature
	}
	for _, one := range v.Refused {
		if got, err := o.Order(one.Payment.withdrawal()); err == nil {
			t.Errorf("%s: got %q, want an error", one.Name, got.Text)
		}
	}
	want, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file, want := filepath.Join("..", "clients", "vectors", "orders.json"), append(want, '\n')
	if *updateVectors {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s (%v) is not what this client signs: run go test ./client -run SharedVectors -update", file, err)
	}
}
