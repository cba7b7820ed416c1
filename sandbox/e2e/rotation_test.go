package e2e

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
	"time"
)

// TestARotationWithBothPrograms replaces the seed while the service runs, on every chain: payments are on their way,
// the signer is killed while the epoch begins, and both programs are killed while the old hot wallets are emptied.
// The service hears of the epoch by itself. What was signed before is paid once, addresses that were given out stay
// good, everything comes to the new hot wallet, payments go on from there, and books equal the chains to the unit.
func TestARotationWithBothPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	r := &rotation{signerProcess: newSignedService(t, build(t), "", "", "BURSAR_LEASE=1s"),
		early: map[*currency]wallet{}}
	for _, scene := range []struct {
		name string
		run  func()
	}{
		{"before", r.before}, {"begun", r.beginEpoch}, {"heard", r.heard}, {"late", r.late}, {"emptied", r.emptied},
		{"after", r.after}, {"audit", r.audit},
	} {
		began := time.Now()
		scene.run()
		t.Logf("%-8s %v", scene.name, time.Since(began).Round(time.Millisecond))
	}
	r.must(r.server.stop())
	r.endCleanly()
}

// rotation is a service whose seed is replaced.
type rotation struct {
	*signerProcess
	early map[*currency]wallet // of the first epoch
	hot   map[string]string    // the hot wallets of the first epoch, by their chains
	open  []*withdrawalRequest // signed and sent before the epoch began, and in no block
}

// chainStatus is what `bursar chain status` says.
type chainStatus struct {
	Chain, HotAddress string
	Epoch             uint32
}

func (r *rotation) standing() (list []chainStatus, err error) {
	out, err := r.try("chain", "status", "--json")
	if err == nil {
		err = json.Unmarshal(out, &list)
	}
	return list, err
}

// before brings deposits, has them swept, and leaves payments on their way.
func (r *rotation) before() {
	r.blocks("manual")
	var received []receipt
	for _, c := range r.currencies {
		r.early[c] = r.a.wallet(c)
		received = append(received, r.bring(c, payment{r.early[c], "60.5"})...)
	}
	r.mine(untilFinal)
	r.credited(received...)
	paid := r.toExternal("5.25", 1)
	r.must(placeAll(paid, func() {}, (*withdrawalRequest).place))
	r.blocks("auto")
	r.paid(paid)
	r.settle()
	r.hot = map[string]string{}
	list, err := r.standing()
	r.must(err)
	for _, one := range list {
		if r.hot[one.Chain] = one.HotAddress; one.Epoch != 0 {
			r.t.Errorf("before the rotation %s is in epoch %d, want 0", one.Chain, one.Epoch)
		}
	}
	r.open = r.toExternal("6.25", 1)
	r.must(placeAll(r.open, func() {}, (*withdrawalRequest).place))
	r.sent(r.open)
}

// beginEpoch makes the next seed and begins its epoch, by a command that is killed at several moments.
func (r *rotation) beginEpoch() {
	r.does("seed", "new", "--epoch", "1")
	r.process.kill()
	began := time.Now()
	r.does("seed", "check")
	takes := time.Since(began) // most of it opens the seeds, as begin-epoch does
	for _, part := range []time.Duration{takes / 2, takes, takes * 5 / 4, takes * 3 / 2, takes * 2} {
		r.killedAfter(part, "begin-epoch", "1", "--reason", "the rotation of a test", "--yes")
	}
	r.does("begin-epoch", "1", "--reason", "the rotation of a test", "--yes")
}

// heard waits until the service, which was not touched, leads every chain in the new epoch.
func (r *rotation) heard() {
	r.begin()
	var list []chainStatus
	r.eventually("the service leads every chain in epoch 1", func() (err error) {
		list, err = r.standing()
		for _, one := range list {
			if err == nil && one.Epoch != 1 {
				err = fmt.Errorf("%s is in epoch %d", one.Chain, one.Epoch)
			}
		}
		return err
	})
	for _, one := range list {
		if (one.HotAddress == r.hot[one.Chain]) != (one.Chain == "xrpl") {
			r.t.Errorf("the hot wallet of %s was %s and is %s, want another one except on xrpl", one.Chain, r.hot[one.Chain],
				one.HotAddress)
		}
		for _, n := range r.networks() {
			if n.chain == one.Chain && one.HotAddress != r.hot[one.Chain] {
				r.remember(r.native(n), one.HotAddress) // for the audit
			}
		}
	}
}

// late pays old and new addresses while both programs are killed again and again.
func (r *rotation) late() {
	r.ready()
	var received []receipt
	for _, c := range r.currencies {
		fresh := r.a.wallet(c)
		if base(fresh.Address) == base(r.early[c].Address) && !c.memo {
			r.t.Errorf("%s: the address of the new epoch is that of the old one", c.code)
		}
		received = append(received, r.bring(c, payment{r.early[c], "22.25"})...)
		received = append(received, r.bring(c, payment{fresh, "11.25"})...)
	}
	r.blocks("auto")
	for i := range 3 {
		wait := time.NewTimer(time.Duration(1+i) * time.Second)
		select {
		case <-wait.C:
		case <-r.server.ended:
			r.t.Fatalf("the service ended by itself: %v\n%s", r.server.err, r.said())
		}
		r.server.kill()
		r.process.kill()
		r.begin()
		r.serve()
	}
	r.ready()
	r.credited(received...)
	r.paid(r.open)
}

// emptied waits until the old hot wallets hold nothing that is worth a deposit.
func (r *rotation) emptied() {
	r.eventually("the old hot wallets are empty", func() error {
		for _, c := range r.currencies {
			if c.memo {
				continue // its one account stays
			}
			minimum := r.minimum(c)
			if left := r.onChain(c, r.hot[c.chain]); left.Cmp(minimum) >= 0 {
				return fmt.Errorf("the old hot wallet of %s holds %v units of %s, want less than %v", c.chain, left, c.code,
					minimum)
			}
			if left := r.onChain(c, r.early[c].Address); left.Cmp(minimum) >= 0 {
				return fmt.Errorf("the old address %s holds %v units of %s, want less than %v", r.early[c].Address, left,
					c.code, minimum)
			}
		}
		return nil
	})
}

// minimum is the least deposit of a currency.
func (r *rotation) minimum(c *currency) *big.Int { return c.units(r.early[c].Minimum) }

// after pays from the new hot wallets.
func (r *rotation) after() {
	requests := r.toExternal("40.5", 1)
	r.must(placeAll(requests, func() {}, (*withdrawalRequest).place))
	r.paid(requests)
	for _, o := range append(requests, r.open...) {
		r.arrived(o)
	}
}
