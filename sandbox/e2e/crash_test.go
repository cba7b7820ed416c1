package e2e

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/store/storetest"
)

var (
	kills    = flag.Int("kills", 12, "how often TestKilledUnderLoad kills the service on each database")
	killSeed = flag.Uint64("kill-seed", 1, "selects the moments of TestKilledUnderLoad and what its clients do")
)

// TestKilledUnderLoad kills the real binary at random moments, also while it starts, under a load of payments, new
// wallets, withdrawals and blocks. At the end every payment is credited once and announced, every withdrawal is paid
// once or refunded, and the books agree with the chains.
//
//	go test ./sandbox/e2e -run TestKilledUnderLoad -kills 500 -timeout 2h
func TestKilledUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the service as a process: left out by -short")
	}
	t.Parallel()
	p := build(t)
	for name, database := range map[string]func(testing.TB) string{"sqlite": noDatabase,
		"postgres": storetest.ServicePostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSeparateService(t, p, database(t), eachAdapter, "BURSAR_LEASE=1s")
			w.killed(*kills, rand.New(rand.NewPCG(*killSeed, 3)))
			w.audit()
			if err := w.server.stop(); err != nil {
				t.Fatal(err)
			}
			w.endCleanly()
		})
	}
}

func noDatabase(testing.TB) string { return "" }

// killed kills the service again and again while clients, payers and miners go on.
func (w *harness) killed(times int, random *rand.Rand) {
	l := w.load(random.Uint64())
	for i := range times {
		// It holds the chain leases once those of the last process have expired.
		wait := time.Duration(random.IntN(4000)) * time.Millisecond
		if random.IntN(5) == 0 {
			wait = time.Duration(random.IntN(60)) * time.Millisecond // while it starts
		}
		select {
		case <-time.After(wait):
		case <-w.server.ended:
			w.t.Fatalf("the service ended by itself: %v\n%s", w.server.err, w.server.log)
		}
		w.server.kill()
		w.serve()
		if i%50 == 49 {
			w.t.Logf("killed %d times: %s", i+1, l)
		}
	}
	w.ready()
	l.end()
	w.t.Logf("killed %d times: %s", times, l)
}

// load is everything that goes on while the service is killed.
type load struct {
	w       *harness
	stop    chan struct{}
	group   sync.WaitGroup
	random  *rand.Rand
	mu      sync.Mutex // guards random and wallets
	wallets map[*currency][]wallet
	paid    atomic.Int64
	made    atomic.Int64
	ordered atomic.Int64
	refused atomic.Int64
}

// load starts a payer and a customer for every currency, both of which wait for an answer as long as it takes.
func (w *harness) load(seed uint64) *load {
	l := w.idleLoad(seed)
	for _, c := range w.currencies {
		l.group.Go(func() { l.each(150, func() { l.pay(c) }) })
		l.group.Go(func() { l.each(1000, func() { l.order(c) }) })
		l.group.Go(func() { l.each(3000, func() { l.wallet(c) }) })
	}
	return l
}

// idleLoad has a wallet of every currency, and does nothing yet.
func (w *harness) idleLoad(seed uint64) *load {
	l := &load{w: w, stop: make(chan struct{}), random: rand.New(rand.NewPCG(seed, 4)), wallets: map[*currency][]wallet{}}
	for _, c := range w.currencies {
		l.wallets[c] = []wallet{w.a.wallet(c)}
	}
	return l
}

func (l *load) String() string {
	return fmt.Sprintf("%d payments, %d wallets, %d withdrawals accepted, %d refused", l.paid.Load(), l.made.Load(),
		l.ordered.Load(), l.refused.Load())
}

// end stops the load and waits until every request in progress has its answer.
func (l *load) end() {
	close(l.stop)
	l.group.Wait()
}

// each repeats an action with pauses of about so many milliseconds.
func (l *load) each(pause int, do func()) {
	for {
		do()
		select {
		case <-l.stop:
			return
		case <-time.After(time.Duration(l.int(2*pause)) * time.Millisecond):
		}
	}
}

func (l *load) int(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.random.IntN(n)
}

func (l *load) pay(c *currency) {
	l.mu.Lock()
	to := l.wallets[c][l.random.IntN(len(l.wallets[c]))]
	l.mu.Unlock()
	if _, err := l.w.tryPay(c, share{to.Address, "7." + strconv.Itoa(10+l.int(89))}); err != nil {
		l.w.t.Errorf("pay %s: %v", c.code, err)
		return
	}
	l.paid.Add(1)
}

const mostWallets = 4 // of each currency, so that the audit reads each one's deposits in reasonable time

func (l *load) wallet(c *currency) {
	l.mu.Lock()
	n := len(l.wallets[c])
	l.mu.Unlock()
	if n >= mostWallets {
		return
	}
	var made struct{ Wallet wallet }
	key := fmt.Sprintf("wallet-%s-%d", c.code, n)
	answered := l.insist(func() error {
		return l.w.a.call(http.MethodPost, "wallet", params{"currency": c.code, "webhook": l.w.hook.url, "metadata": "e2e"},
			map[string]string{"Idempotency-Key": key}, &made)
	})
	if !answered {
		return
	}
	made.Wallet.account, made.Wallet.currency = l.w.a, c
	l.w.remember(c, made.Wallet.Address)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wallets[c] = append(l.wallets[c], made.Wallet)
	l.made.Add(1)
}

func (l *load) order(c *currency) {
	var to struct{ Address string }
	if err := l.w.sandbox.ask(http.MethodPost, "/address", params{"currency": c.code}, &to); err != nil {
		l.w.t.Errorf("an external address of %s: %v", c.code, err)
		return
	}
	o := l.w.request(l.w.a, c, "5."+strconv.Itoa(10+l.int(89)), to.Address)
	var refused *refusal
	answered := l.insist(func() error {
		err := o.place()
		if errors.As(err, &refused) && refused.code == "insufficient_balance" {
			return nil
		}
		refused = nil
		return err
	})
	if !answered {
		return
	}
	if refused != nil {
		l.refused.Add(1)
		return
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.w.requested = append(l.w.requested, o)
	l.ordered.Add(1)
}

// insist repeats a request until there is an answer; any refusal except "not now" is an error of the test.
func (l *load) insist(ask func() error) bool {
	for began := time.Now(); ; {
		err := ask()
		if err == nil {
			return true
		}
		var refused *refusal
		if errors.As(err, &refused) && refused.code != "unavailable" && refused.status < 500 || time.Since(began) > patience {
			l.w.t.Error(err)
			return false
		}
		<-time.After(time.Duration(20+l.int(60)) * time.Millisecond)
	}
}
