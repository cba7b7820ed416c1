package client

import (
	"context"
	"crypto"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Orders makes a client sign each withdrawal as an order. With a key that the operator has registered nobody but its
// holder can have the account's money paid out, whatever happens to the service and its database. So nothing here comes
// from the service: Instance and Assets are what the operator gave you by another way, or what you compared with it.
type Orders struct {
	Key      crypto.Signer `json:"-"` // of ed25519 or P-256
	Account  string        // the account's ID
	Instance string        // the signer's, as GET account/order-keys shows it too
	Assets   map[string]Asset

	For time.Duration    // how long an order is payable, at most 30 days; 0: an hour
	Now func() time.Time // nil: time.Now
}

// Asset is what a currency is on its chain. A service in other hands could call another asset by the same name.
type Asset struct {
	Chain    string
	Contract string // as GET wallet/currencies shows it; empty for the native asset
	Decimals int    // of the smallest unit
}

// String names the account and leaves out the key.
func (o Orders) String() string { return "orders of account " + o.Account }

// GoString returns String, so that %#v shows no key either.
func (o Orders) GoString() string { return o.String() }

// check refuses what cannot sign.
func (o *Orders) check() error {
	if o.Key == nil || o.Account == "" || o.Instance == "" || len(o.Assets) == 0 {
		return errors.New("client: Orders needs Key, Account, Instance and Assets")
	}
	if o.For < 0 || o.For > 30*24*time.Hour {
		return fmt.Errorf("client: orders for %v are not possible: at most 30 days", o.For)
	}
	_, err := OrderKeyID(o.Key.Public())
	return err
}

// SignedOrder is an order with its signature.
type SignedOrder struct {
	Text      string
	Signature string
}

// Order returns the signed order of a withdrawal, to be stored and sent as NewWithdrawal.Order. The ID of the order
// follows from the idempotency key, so that one payment is one order.
func (o *Orders) Order(n NewWithdrawal) (SignedOrder, error) {
	text, err := o.text(n)
	if err != nil {
		return SignedOrder{}, err
	}
	signature, err := SignOrder(o.Key, text)
	return SignedOrder{text, signature}, err
}

func (o *Orders) text(n NewWithdrawal) (string, error) {
	asset, known := o.Assets[n.Currency]
	if !known {
		return "", fmt.Errorf("client: Orders.Assets does not say what %s is", n.Currency)
	}
	if n.IdempotencyKey == "" {
		return "", errors.New("client: an order needs an idempotency key")
	}
	units, err := unitsOf(n.Amount, asset.Decimals)
	if err != nil {
		return "", err
	}
	base, tag, tagged := strings.Cut(n.Address, ":")
	if _, err := strconv.ParseUint(tag, 10, 32); tagged && err != nil {
		return "", fmt.Errorf("client: the memo of %q is not a number", n.Address)
	}
	created := n.Created
	if created.IsZero() {
		created = o.now()
	}
	created = created.UTC().Truncate(time.Second)
	life := o.For
	if life == 0 {
		life = time.Hour
	}
	var text strings.Builder
	text.WriteString("bursar-order/1\n")
	for _, line := range [][2]string{
		{"instance", o.Instance},
		{"account", o.Account},
		{"order", orderID(o.Account, n.IdempotencyKey)},
		{"requester", ""},
		{"chain", asset.Chain},
		{"asset", firstOf(asset.Contract, "native")},
		{"pay", base},
		{"tag", tag},
		{"units", units},
		{"max_fee", n.MaxFee},
		{"created", created.Format(time.RFC3339)},
		{"expires", created.Add(life).Truncate(time.Second).Format(time.RFC3339)},
	} {
		if strings.ContainsAny(line[1], "\r\n") {
			return "", fmt.Errorf("client: the %s of an order has a line break", line[0])
		}
		text.WriteString(line[0] + ": " + firstOf(line[1], "-") + "\n")
	}
	return text.String(), nil
}

func (o *Orders) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// orderID derives the order's ID, a UUID of version 8, from the idempotency key.
func orderID(account, key string) string {
	id := sha256.Sum256([]byte("bursar order\x00" + account + "\x00" + key))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
}

// unitsOf turns a plain decimal into the smallest units, exactly.
func unitsOf(amount string, decimals int) (string, error) {
	whole, fraction, dotted := strings.Cut(amount, ".")
	other := func(r rune) bool { return r < '0' || r > '9' }
	units, valid := new(big.Int).SetString(whole+fraction, 10)
	if !valid || whole == "" || dotted && fraction == "" || strings.ContainsFunc(whole+fraction, other) ||
		len(fraction) > decimals || units.Sign() == 0 {
		return "", fmt.Errorf("client: %q is not an amount with at most %d decimals", amount, decimals)
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals-len(fraction))), nil)
	return units.Mul(units, scale).String(), nil
}

func firstOf(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// OrderKey is a key that signs orders of the account.
type OrderKey struct {
	KeyID      string     `json:"keyID"` // as OrderKeyID computes it
	Name       string     `json:"name"`
	PublicKey  string     `json:"publicKey"` // the base64 of its SubjectPublicKeyInfo
	Usable     bool       `json:"usable"`
	UsableFrom time.Time  `json:"usableFrom"` // end of its waiting period
	RevokedAt  *time.Time `json:"revokedAt"`  // nil: it is not revoked
	CreatedAt  time.Time  `json:"createdAt"`
}

// OrderKeys are the keys that sign orders of the account, and the instance that orders are for. It is what the service
// says: compare it with what the operator gave you.
type OrderKeys struct {
	Required bool       `json:"required"` // withdrawals without a signed order are refused
	Instance string     `json:"instance"` // empty: not known yet
	Keys     []OrderKey `json:"keys"`
}

// OrderKeys lists the keys that sign orders.
func (c *Client) OrderKeys(ctx context.Context) (OrderKeys, error) {
	return call[OrderKeys](ctx, c, request{method: http.MethodGet, path: "account/order-keys"})
}
