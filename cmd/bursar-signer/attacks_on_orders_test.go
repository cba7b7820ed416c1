package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/signer"
)

// The accounts of the attacks on orders: two with a key each, one whose key was revoked, one that never had any.
var (
	shop     = bursar.ID{0: 1, 15: 1}
	other    = bursar.ID{0: 1, 15: 2}
	robbed   = bursar.ID{0: 1, 15: 3}
	unsigned = bursar.ID{0: 1, 15: 4}
)

// clientKey is the key of a client by its number; the intruder has the last.
func clientKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

const mallorysKey = 99

// enrol adds keys of clients as a person on the signer's machine does.
func (c *lyingService) enrol() {
	c.t.Helper()
	for n, account := range map[byte]bursar.ID{1: shop, 2: other, 3: robbed} {
		der, err := x509.MarshalPKIXPublicKey(clientKey(n).Public())
		c.must(err)
		file := fmt.Sprintf("key-%d.pem", n)
		c.write(file, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
		c.want0("order-key", "add", account.String(), file, "--name", "shop")
	}
	id, err := client.OrderKeyID(clientKey(3).Public())
	c.must(err)
	c.want0("order-key", "revoke", robbed.String(), id)
}

// want0 runs the program, which must succeed.
func (c *lyingService) want0(args ...string) {
	c.t.Helper()
	if _, says, code := c.run(args...); code != 0 {
		c.t.Fatalf("bursar-signer %v exits with %d: %s, want 0", args, code, says)
	}
}

// ordered is an honest payment of one MATIC with the order of an account, signed by a client.
func (c *lyingService) ordered(account bursar.ID, key byte, change func(o *approval.Order)) asked {
	c.t.Helper()
	a := c.polygons(func(*evmPayload) {})
	c.order(&a, account, key, change)
	return a
}

// order gives a payment the order of an account; key 0 signs nothing.
func (c *lyingService) order(a *asked, account bursar.ID, key byte, change func(o *approval.Order)) {
	c.t.Helper()
	p, now := a.order.Payments[0], time.Now().UTC().Truncate(time.Second)
	o := approval.Order{Instance: c.instance(), Account: account, ID: bursar.NewIDs(time.Now, nil).Next(), Chain: a.id,
		Contract: p.Contract, To: p.Address, Units: p.Amount, Created: now, Expires: now.Add(time.Hour)}
	if change != nil {
		change(&o)
	}
	one := chain.Order{Text: o.Text()}
	if key != 0 {
		signature, err := client.SignOrder(clientKey(key), one.Text)
		c.must(err)
		one.Signature = signature
	}
	a.draft.Orders = []chain.Order{one}
}

func (c *lyingService) instance() string {
	c.t.Helper()
	p, err := c.client.Policy(c.t.Context())
	c.must(err)
	return p.Instance
}

// again is another transaction with the order of one that was signed.
func (c *lyingService) again(signed asked, change func(p *evmPayload)) asked {
	c.t.Helper()
	c.want("an honest order", signed, "")
	a := c.polygons(change)
	a.draft.Orders = signed.draft.Orders
	return a
}

// attacksOnOrders are asked of a signer that knows keys of clients. Each is refused on its own.
func attacksOnOrders() []attack {
	fresh := func(change func(o *approval.Order)) func(c *lyingService) asked {
		return func(c *lyingService) asked { return c.ordered(shop, 1, change) }
	}
	other20 := "0x00000000000000000000000000000000DeaDBeef"
	list := []attack{
		{"order-signed", "a payment without any order", signer.ReasonOrderSigned,
			func(c *lyingService) asked { return c.polygons(func(*evmPayload) {}) }},
		{"order-signed", "an order that nobody signed, of an account with a key", signer.ReasonOrderSigned,
			func(c *lyingService) asked { return c.ordered(shop, 0, nil) }},
		{"order-signed", "an order signed with the key of another account", signer.ReasonOrderSigned,
			func(c *lyingService) asked { return c.ordered(shop, 2, nil) }},
		{"order-signed", "an order signed with a key that was revoked", signer.ReasonOrderSigned,
			func(c *lyingService) asked { return c.ordered(robbed, 3, nil) }},
		{"order-signed", "an order signed with a key that the service added", signer.ReasonOrderSigned,
			func(c *lyingService) asked { return c.ordered(shop, mallorysKey, nil) }},
		{"order-signed", "an order that was changed after it was signed", signer.ReasonOrderSigned,
			func(c *lyingService) asked {
				a, b := c.ordered(shop, 1, nil), c.ordered(shop, 1, nil)
				a.draft.Orders[0].Signature = b.draft.Orders[0].Signature
				return a
			}},
		{"order-fresh", "an order of another signer or network", signer.ReasonOrderFresh,
			fresh(func(o *approval.Order) { o.Instance = "K7QJ3ZL2M5XW4RT6P8YN9VBHCD" })},
		{"order-fresh", "an order that has expired", signer.ReasonOrderFresh, fresh(func(o *approval.Order) {
			o.Created, o.Expires = o.Created.Add(-2*time.Hour), o.Created.Add(-time.Hour)
		})},
		{"order-fresh", "an order that was signed for the next year", signer.ReasonOrderFresh,
			fresh(func(o *approval.Order) { o.Expires = o.Created.AddDate(1, 0, 0) })},
		{"order-fresh", "an order from the future", signer.ReasonOrderFresh, fresh(func(o *approval.Order) {
			o.Created, o.Expires = o.Created.Add(time.Hour), o.Expires.Add(time.Hour)
		})},
		{"tx-pays-order", "more than the order says", signer.ReasonPaysOrder,
			fresh(func(o *approval.Order) { o.Units = bursar.Units(1) })},
		{"tx-pays-order", "an order to the customer, paid to the intruder", signer.ReasonPaysOrder,
			fresh(func(o *approval.Order) { o.To.Base = other20 })},
		{"tx-pays-order", "an order with a tag, paid without", signer.ReasonPaysOrder,
			fresh(func(o *approval.Order) { o.To.HasMemo, o.To.Memo = true, 7 })},
		{"tx-pays-order", "an order of the same name on another chain", signer.ReasonPaysOrder,
			fresh(func(o *approval.Order) { o.Chain = bursar.Ethereum })},
		{"tx-pays-order", "an order of one token, paid in another asset", signer.ReasonPaysOrder, func(
			c *lyingService,
		) asked {
			return c.ordered(shop, 1, func(o *approval.Order) { o.Contract = c.base(bursar.Polygon, other20) })
		}},
		{"tx-pays-order", "an order split into two payments", signer.ReasonPaysOrder, func(c *lyingService) asked {
			a := c.polygons(func(p *evmPayload) { p.Value = big.NewInt(gwei * gwei / 2) })
			a.order.Payments[0].Amount = bursar.Units(gwei * gwei / 2)
			c.order(&a, shop, 1, func(o *approval.Order) { o.Units = bursar.Units(gwei * gwei) })
			return a
		}},
		{"tx-pays-order", "a higher fee than the order allows", signer.ReasonPaysOrder,
			fresh(func(o *approval.Order) { o.MaxFee = bursar.Units(1) })},
		{"order-once", "the same order in a second transaction", signer.ReasonOrderOnce, func(c *lyingService) asked {
			return c.again(c.ordered(shop, 1, nil), func(*evmPayload) {})
		}},
		{"order-once", "two orders under one ID", signer.ReasonOrderOnce, func(c *lyingService) asked {
			id := bursar.NewIDs(time.Now, nil).Next()
			named := func(o *approval.Order) { o.ID = id }
			a := c.again(c.ordered(shop, 1, named), func(*evmPayload) {})
			c.order(&a, shop, 1, func(o *approval.Order) { o.ID, o.Expires = id, o.Expires.Add(time.Second) })
			return a
		}},
	}
	slices.SortStableFunc(list, func(a, b attack) int { return strings.Compare(a.rule, b.rule) })
	return list
}

// TestTheLyingServiceOrdersNothing asks a signer that knows keys of clients, in the real process, for what they did not
// sign.
func TestTheLyingServiceOrdersNothing(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	c.enrol()
	for name, account := range map[string]bursar.ID{"an honest order": shop, "of another account": other} {
		c.want(name, c.ordered(account, byte(account[15]), nil), "")
	}
	for _, a := range attacksOnOrders() {
		c.want(a.what, a.ask(c), a.reason)
	}
	var nonce uint64
	replaced := c.polygons(func(p *evmPayload) { nonce = p.Nonce })
	c.order(&replaced, shop, 1, nil)
	c.want("an order before its fee bump", replaced, "")
	bumped := c.polygons(func(p *evmPayload) { p.Nonce, p.MaxFee = nonce, big.NewInt(120*gwei) })
	bumped.draft.Orders = replaced.draft.Orders
	c.want("its fee bump, which excludes it", bumped, "")
	c.stop(syscall.SIGTERM)
	c.start()
	once := c.polygons(func(*evmPayload) {})
	once.draft.Orders = replaced.draft.Orders
	c.want("after a restart", once, signer.ReasonOrderOnce)
	c.want("an account without keys: nothing protects it but the limits", c.ordered(unsigned, 0, nil), "")

	late := c.ordered(shop, 1, func(o *approval.Order) { o.Expires = o.Created.Add(time.Minute) })
	c.stop(syscall.SIGTERM)
	c.ahead(time.Hour) // as if the clock had been set back by an hour, to before its end
	c.start()
	c.want("an order in its time again, with a clock that was set back", late, signer.ReasonClock)
}

// With signer.orders: required nothing leaves in the name of accounts without keys, nor without a name.
func TestRequiredOrders(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	c.stop(syscall.SIGTERM)
	c.write("bursar.yaml",
		strings.Replace(limits, "lock_memory: preferred", "lock_memory: preferred, orders: required", 1))
	c.start()
	c.want("before the first key, without an order", c.polygons(func(*evmPayload) {}), signer.ReasonOrderSigned)
	c.enrol()
	c.want("an honest order", c.ordered(shop, 1, nil), "")
	c.want("without an order", c.polygons(func(*evmPayload) {}), signer.ReasonOrderSigned)
	c.want("of an account without keys", c.ordered(unsigned, 0, nil), signer.ReasonOrderSigned)
	c.want("of nobody, as a refund", c.ordered(bursar.ID{}, 0, nil), signer.ReasonOrderSigned)
}
