package main

import (
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/remote"
)

// matic is one MATIC in its smallest unit.
var matic = big.NewInt(gwei * gwei)

// takes is a payment of some MATIC to the intruder, which the order says too.
func (c *lyingService) takes(units uint64) asked {
	c.t.Helper()
	amount := new(big.Int).Mul(matic, new(big.Int).SetUint64(units))
	a := c.polygons(func(p *evmPayload) { p.To, p.Value, p.Gas = mallorys20, amount, 21_000 })
	paid, err := bursar.AmountFromBig(amount)
	c.must(err)
	a.order.Payments = []chain.Payment{{Amount: paid,
		Address: bursar.Address{Base: c.base(bursar.Polygon, fmt.Sprintf("0x%x", mallorys20))}}}
	return a
}

// TestAThousandOrdersAgainstOneWindow asks for a thousand payments of three MATIC at once, and for the same again after
// the process was killed: of an hourly limit of 100 MATIC, 99 leave.
func TestAThousandOrdersAgainstOneWindow(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	orders := make([]asked, 1000)
	for i := range orders {
		orders[i] = c.takes(3)
	}
	signed := make([]chain.SignedTx, len(orders))
	var left atomic.Int64
	busy := make(chan struct{})
	take := func() {
		var next atomic.Int64
		var group sync.WaitGroup
		for range 32 {
			group.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(orders)); i = next.Add(1) - 1 {
					got, err := c.sign(orders[i])
					var refused *signer.RefusalError
					switch {
					case errors.Is(err, remote.ErrUnavailable):
						return // killed
					case errors.As(err, &refused) && refused.Reason != signer.ReasonQuota:
						t.Errorf("order %d: %v", i, err)
					case err == nil && signed[i].TxID != "" && !reflect.DeepEqual(got, signed[i]):
						t.Errorf("order %d is signed twice in two ways", i)
					case err == nil && signed[i].TxID == "":
						signed[i] = got
						if left.Add(1) == 5 {
							close(busy)
						}
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
	if got := left.Load(); got > 33 {
		t.Errorf("%d payments of 3 left of an hourly limit of 100, want at most 33", got)
	}
	c.want("what is left of the window", c.takes(3), signer.ReasonQuota)
}

// most is what an intruder who asks for all that is signed gets within an hour, in the smallest units.
type most struct {
	paid, fees, topUps *big.Int
	sweeps             int
}

// drain asks until nothing more is signed: payments, then fees of gas top-ups, the highest that are signed.
func (c *lyingService) drain() (m most) {
	c.t.Helper()
	m = most{new(big.Int), new(big.Int), new(big.Int), 0}
	for units := uint64(64); units > 0; {
		a := c.takes(units)
		if _, err := c.sign(a); err != nil {
			units /= 2
			continue
		}
		m.paid.Add(m.paid, a.order.Payments[0].Amount.Big())
		m.fees.Add(m.fees, a.draft.Fee.Big())
	}
	home := c.deposit(bursar.Polygon)
	for price := int64(3_000_000); price > 0; {
		a := c.polygons(func(p *evmPayload) {
			p.To, p.Value, p.Gas = unhex(home.Base[2:]), new(big.Int).Mul(matic, big.NewInt(2)), 333_333
			p.Tip, p.MaxFee = big.NewInt(1), big.NewInt(price*1_000_000)
		})
		paid, err := bursar.AmountFromBig(new(big.Int).Mul(matic, big.NewInt(2)))
		c.must(err)
		a.order.Kind, a.order.Change = chain.KindGasTopUp, home
		a.order.Payments = []chain.Payment{{Address: bursar.Address{Base: home.Base}, Amount: paid}}
		if _, err := c.sign(a); err != nil {
			price /= 2
			continue
		}
		m.fees.Add(m.fees, a.draft.Fee.Big())
		m.topUps.Add(m.topUps, paid.Big())
		m.sweeps++
	}
	return m
}

// TestTheMostThatALyingServiceTakes is what docs/threat-model.md says, as a figure: of a configuration with 100 MATIC
// and 20 MATIC of fees an hour, and 30 sweeps, an intruder gets no more, and after a restart nothing else.
func TestTheMostThatALyingServiceTakes(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	m := c.drain()
	whole := func(n int64) *big.Int { return new(big.Int).Mul(matic, big.NewInt(n)) }
	if m.paid.Cmp(whole(100)) != 0 {
		t.Errorf("paid to the intruder: %s, want the hourly limit of 100 MATIC", m.paid)
	}
	if m.fees.Cmp(whole(20)) > 0 || m.fees.Cmp(whole(19)) < 0 {
		t.Errorf("spent on fees: %s, want close to the limit of 20 MATIC and no more", m.fees)
	}
	if m.sweeps == 0 || m.sweeps > 30 || m.topUps.Cmp(whole(60)) > 0 {
		t.Errorf("%d top-ups of %s together, want at most 30 of 2 MATIC each", m.sweeps, m.topUps)
	}
	c.stop(syscall.SIGTERM)
	c.start()
	if again := c.drain(); again.paid.Sign() != 0 || again.fees.Cmp(new(big.Int).Sub(whole(20), m.fees)) > 0 {
		t.Errorf("after a restart it takes %+v, want 0 and at most 0", again)
	}
}

// ahead lets the state remember something from a later time.
func (c *lyingService) ahead(by time.Duration) {
	c.t.Helper()
	file, err := memory.Join(c.t.Context(), filepath.Join(c.folder, "seed.age.state"))
	c.must(err)
	c.must(file.Do(c.t.Context(), func(tx memory.Tx) error { return tx.SetHighWater(c.t.Context(), time.Now().Add(by)) }))
	c.must(file.Close())
}

// TestAFreezeOfTheProcessWins freezes the process while it signs without pause: once the command has returned, no
// signature arrives that was not on its way, and none after a restart. A signal freezes as well.
func TestAFreezeOfTheProcessWins(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	var signed, late atomic.Int64
	busy := make(chan struct{})
	var frozen atomic.Bool
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for {
				after := frozen.Load() // asked after the command had returned
				_, err := c.sign(c.trons(func(*tronTx, []byte) {}))
				var refused *signer.RefusalError
				if errors.As(err, &refused) && refused.Reason == signer.ReasonFrozen {
					return
				}
				if err == nil && signed.Add(1) == 10 {
					close(busy)
				}
				if err == nil && after {
					late.Add(1)
				}
				if err != nil && !errors.As(err, &refused) {
					t.Errorf("got %v", err)
					return
				}
			}
		})
	}
	<-busy
	if _, says, code := c.run("freeze", "--reason", "an intruder"); code != 0 {
		t.Errorf("freeze exits with %d: %s, want 0", code, says)
	}
	frozen.Store(true)
	group.Wait()
	if late.Load() > 0 {
		t.Errorf("%d signatures after the freeze, want 0", late.Load())
	}
	c.stop(syscall.SIGKILL)
	c.start()
	c.want("after a restart", c.takes(1), signer.ReasonFrozen)
	c.thaw()
	c.want("after the thaw", c.takes(1), "")
	c.must(c.process.Process.Signal(syscall.SIGUSR1))
	for why := ""; why == ""; why, _ = c.client.Frozen() {
		c.resume() // the signal is delivered at some time
	}
	c.want("after SIGUSR1", c.takes(1), signer.ReasonFrozen)
	if out, _, _ := c.run("status"); !strings.Contains(out, "SIGUSR1") {
		t.Errorf("the status says %s, want %q in it", out, "SIGUSR1")
	}
}
