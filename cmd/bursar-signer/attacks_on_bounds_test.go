package main

import (
	"errors"
	"math/big"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
)

// bounds installs a policy under which nobody is asked: a rule for payments of at most 1,000 MATIC and one for sweeps
// and gas, each with the bounds of a change. A MATIC is worth an EUR, and a request costs 0.01 MATIC.
func (c *lyingService) bounds(change func(payments, ours *roster.Rule)) {
	c.t.Helper()
	c.approves(func(r *roster.Rule) { r.Need, r.Role = 0, "" }, func(p *roster.Policy) {
		p.Rules = append(p.Rules, roster.Rule{ID: "ours", To: roster.ToOwn,
			For: []string{roster.KindGasTopUp, roster.KindSweep}})
		change(&p.Rules[0], &p.Rules[1])
	})
}

// daily is one window of a day, in millionths.
func daily(most uint64) []roster.Window {
	return []roster.Window{{Length: 24 * time.Hour, Most: bursar.Units(most)}}
}

// cent is a payment of a hundredth of a MATIC that only the service orders.
func (c *lyingService) cent(change func(p *evmPayload)) asked {
	c.t.Helper()
	cent := uint64(gwei * gwei / 100)
	a := c.polygons(func(p *evmPayload) {
		if p.Value = new(big.Int).SetUint64(cent); change != nil {
			change(p)
		}
	})
	a.order.Payments[0].Amount = bursar.Units(cent)
	c.order(&a, unsigned, 0, nil)
	return a
}

// dearer is a transaction with the nonce and the orders of another, at a fee of that many hundredths of a MATIC.
func (c *lyingService) dearer(before asked, nonce uint64, fee int64) asked {
	c.t.Helper()
	a := c.cent(func(p *evmPayload) { p.Nonce, p.MaxFee = nonce, big.NewInt(fee*100*gwei) })
	a.draft.Orders = before.draft.Orders
	return a
}

// gas is a top-up of a deposit address with one MATIC.
func (c *lyingService) gas() asked {
	c.t.Helper()
	home := c.deposit(bursar.Polygon)
	a := c.polygons(func(p *evmPayload) { p.To, p.Value = unhex(home.Base[2:]), matic })
	a.order.Kind, a.order.Change = chain.KindGasTopUp, home
	a.order.Payments = []chain.Payment{to(home.Base, gwei*gwei)}
	return a
}

// attacksOnBounds are asked of a signer whose policy bounds something, each of a signer of its own.
func attacksOnBounds() []attack {
	return []attack{
		{"window", "payments of a cent, each at a fee, past the fees of a day", signer.ReasonWindow,
			func(c *lyingService) asked {
				c.bounds(func(r, _ *roster.Rule) { r.Fees = daily(25_000) })
				c.want("the first of them", c.cent(nil), "")
				c.want("the second of them", c.cent(nil), "")
				return c.cent(nil)
			}},
		{"window", "one payment, replaced at a higher fee each time", signer.ReasonWindow, func(c *lyingService) asked {
			c.bounds(func(r, _ *roster.Rule) { r.Fees = daily(25_000) })
			var nonce uint64
			first := c.cent(func(p *evmPayload) { nonce = p.Nonce })
			c.want("the payment", first, "")
			c.want("its replacement, which counts instead of it", c.dearer(first, nonce, 2), "")
			return c.dearer(first, nonce, 3)
		}},
		{"window", "a payment more than are counted, after the signer was killed", signer.ReasonWindow,
			func(c *lyingService) asked {
				c.bounds(func(r, _ *roster.Rule) { r.Payments = daily(2) })
				c.want("the first of them", c.cent(nil), "")
				c.stop(syscall.SIGKILL)
				c.start()
				c.want("the second of them", c.cent(nil), "")
				return c.cent(nil)
			}},
		{"window", "one account drained by its client's key, past its own window", signer.ReasonWindow,
			func(c *lyingService) asked {
				c.enrol()
				c.bounds(func(r, _ *roster.Rule) { r.PerAccount = daily(1_500_000) })
				c.want("a payment of the account", c.ordered(shop, 1, nil), "")
				c.stop(syscall.SIGKILL)
				c.start()
				c.want("a payment of another account", c.ordered(other, 2, nil), "")
				return c.ordered(shop, 1, nil)
			}},
		{"policy", "an account that the service made up, by a rule that bounds each account", signer.ReasonPolicy,
			func(c *lyingService) asked {
				c.bounds(func(r, _ *roster.Rule) { r.PerAccount = daily(1_500_000) })
				return c.ordered(bursar.ID{0: 7, 15: 7}, 0, nil)
			}},
		{"window", "gas to our own addresses, past what moving our money may cost", signer.ReasonWindow,
			func(c *lyingService) asked {
				c.bounds(func(_, ours *roster.Rule) { ours.Fees, ours.Payments = daily(25_000), daily(9) })
				c.want("the first of them", c.gas(), "")
				c.want("the second of them", c.gas(), "")
				return c.gas()
			}},
	}
}

// TestAThousandCentsAgainstACount asks for a thousand payments of a cent at once, and for the same again after the
// process was killed: the rule lets 30 leave. Then one of these is replaced, which is no payment more.
func TestAThousandCentsAgainstACount(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	c.bounds(func(r, _ *roster.Rule) { r.Payments, r.Fees = daily(30), daily(310_000) })
	var nonce uint64
	first := c.cent(func(p *evmPayload) { nonce = p.Nonce })
	c.want("the first", first, "")
	list := make([]asked, 1000)
	for i := range list {
		list[i] = c.cent(nil)
	}
	signed := make([]atomic.Bool, len(list))
	var left atomic.Int64
	busy := make(chan struct{})
	take := func() {
		var next atomic.Int64
		var group sync.WaitGroup
		for range 32 {
			group.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
					_, err := c.sign(list[i])
					var refused *signer.RefusalError
					switch {
					case errors.Is(err, remote.ErrUnavailable):
						return // killed
					case errors.As(err, &refused) && refused.Reason != signer.ReasonWindow:
						t.Errorf("payment %d: %v, want it signed or refused for %s", i, err, signer.ReasonWindow)
					case err == nil && signed[i].CompareAndSwap(false, true) && left.Add(1) == 5:
						close(busy)
					}
				}
			})
		}
		group.Wait()
	}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		<-busy
		c.stop(syscall.SIGKILL)
	}()
	take()
	<-killed
	c.start()
	take()
	if got := left.Load(); got > 29 || got < 5 {
		t.Errorf("%d payments more were signed, want at most 29", got)
	}
	c.want("one more", c.cent(nil), signer.ReasonWindow)
	c.want("the first, replaced", c.dearer(first, nonce, 2), "")
	c.want("the first, replaced past the fees", c.dearer(first, nonce, 3), signer.ReasonWindow)
}

// An approval does not lift the bound of its own rule: persons who would pay more than they signed for sign a version
// that allows it.
func TestTheLyingServiceIsBoundBesideApprovals(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	c.approves(func(r *roster.Rule) { r.Fees, r.Payments = daily(1_000_000), daily(1) })
	c.want("what two persons approved", c.approved(nil, annsKey, bobsKey), "")
	c.want("one more that they approved", c.approved(func(a *approval.Approval) { a.Payment = 1 }, annsKey, bobsKey),
		signer.ReasonWindow)
}
