package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar/store/storetest"
)

// patience is for actions that take a few blocks, on a machine that is busy with other tests.
const patience = 5 * time.Minute

// harness is one data directory and everything that was done with it.
type harness struct {
	t           *testing.T
	programs    programs
	dir         string
	database    string
	endpoints   int      // of each chain
	chains      string   // the chains that run, comma-separated; empty: all
	screening   bool     // payments are screened
	cold        bool     // there are cold wallets
	environment []string // of the service and of operator commands, in addition to the usual environment
	currencies  []*currency
	sandbox     *sandboxProcess
	server      *server // if the service is a process of its own
	listen      string  // its addresses; empty: the sandbox's process serves
	admin       string
	hook        *hook  // receives webhooks
	builtIn     string // URL of the sandbox's own receiver

	a, b, c *account

	mu        sync.Mutex
	ours      map[*network][]string  // addresses of wallets and charges, without memos
	small     map[*currency]*big.Int // deposits below the minimum: their sum
	stray     map[*currency]*big.Int // unattributed deposits
	late      []charge               // charges to pay after they have expired
	lateSums  []sum                  // the same of those that add up
	requested []*withdrawalRequest
	requests  int
}

// newHarness runs the sandbox with one endpoint of each of some chains, or of all if chains is empty.
func newHarness(t *testing.T, p programs, database, chains string) *harness {
	return newHarnessOf(t,
		&harness{t: t, programs: p, dir: storetest.Folder(t), database: database, endpoints: 1, chains: chains})
}

// newHarnessOf starts what a harness's settings ask for.
func newHarnessOf(t *testing.T, w *harness) *harness {
	w.currencies, w.hook, w.ours = everything(t), listen(t), map[*network][]string{}
	if w.chains != "" {
		w.currencies = w.that(func(c *currency) bool { return slices.Contains(strings.Split(w.chains, ","), c.chain) })
	}
	w.small, w.stray = map[*currency]*big.Int{}, map[*currency]*big.Int{}
	for _, c := range w.currencies {
		if w.small[c], w.stray[c] = new(big.Int), new(big.Int); c.memo {
			w.stray[c] = c.units(c.operatorFunds) // nothing distinguishes it from other deposits there
		}
	}
	w.start()
	w.a = &account{w.sandbox.AccountID, w.sandbox.APIKey, w.sandbox.APISecret, w.sandbox.WebhookSecret, w}
	w.b = &account{w: w}
	if err := json.Unmarshal(w.run("account", "create", "--name", "second", "--json"), w.b); err != nil {
		t.Fatal(err)
	}
	w.c = &account{w: w}
	w.must(w.sandbox.ask(http.MethodPost, "/account", params{"name": "third"}, w.c))
	return w
}

// start runs the sandbox, in the same directory after an end.
func (w *harness) start() {
	w.t.Helper()
	w.sandbox = start(w)
	var own struct{ URL string }
	w.must(w.sandbox.ask(http.MethodGet, "/webhooks/url", nil, &own))
	if w.builtIn != "" && own.URL != w.builtIn {
		w.t.Fatalf("the sandbox's receiver moved from %s to %s", w.builtIn, own.URL)
	}
	w.builtIn = own.URL
}

// restart starts the sandbox again after it has ended: it must be the same one.
func (w *harness) restart() {
	w.t.Helper()
	before := w.sandbox
	<-before.ended
	w.start()
	if w.sandbox.AccountID != before.AccountID || w.sandbox.APIKey != before.APIKey ||
		w.sandbox.APISecret != before.APISecret || w.sandbox.WebhookSecret != before.WebhookSecret {
		w.t.Fatal("the sandbox has another account after a restart, want the same")
	}
}

func (w *harness) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v\n%s", err, w.said())
	}
}

// said is why chains are not followed, the alarms, and what the processes logged last.
func (w *harness) said() string {
	said := ""
	for _, command := range [][]string{{"chain", "status"}, {"alarm", "list"}} {
		out, err := w.try(command...)
		if err != nil {
			out = append(out, err.Error()...)
		}
		said += fmt.Sprintf("%v:\n%s\n", command, out)
	}
	said += w.sandbox.log.String()
	if w.server != nil {
		said += "\nthe service:\n" + w.server.log.String()
	}
	return said
}

// eventually waits until check returns nil.
func (w *harness) eventually(what string, check func() error) {
	w.t.Helper()
	if err := w.persist(check); err != nil {
		said := w.said()
		// The cause comes first and last: of a long output, some see only one end.
		w.t.Fatalf("in vain: %s: %v\n%s\nwhat the sandbox did:\n%s\n%s: %s: %v", what, err, said, w.sandbox.stacks(),
			w.t.Name(), what, err)
	}
}

// persist is eventually for goroutines: it returns the last error. It waits longer between checks that take longer: one
// that starts a program, again and again, would take the core that the service needs.
func (w *harness) persist(check func() error) error {
	deadline := time.After(patience)
	for {
		began := time.Now()
		err := check()
		if err == nil {
			return nil
		}
		next := time.NewTimer(min(max(50*time.Millisecond, 3*time.Since(began)), time.Second))
		select {
		case <-deadline:
			return fmt.Errorf("not after %v: %w", patience, err)
		case <-w.sandbox.ended:
			return fmt.Errorf("the sandbox ended with %v: %w", w.sandbox.err, err)
		case <-w.serverEnded():
			return fmt.Errorf("the service ended with %v: %w\n%s", w.server.err, err, w.server.log)
		case <-next.C:
		}
	}
}

// serverEnded is closed once a service in its own process has ended by itself. What is tried while there is none,
// between a loss and the start after it, may take several attempts.
func (w *harness) serverEnded() <-chan struct{} {
	if w.server == nil || w.server.meant.Load() {
		return nil
	}
	return w.server.ended
}

// base is an address without its memo.
func base(address string) string {
	base, _, _ := strings.Cut(address, ":")
	return base
}

// remember records an address of the service.
func (w *harness) remember(c *currency, address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ours[c.network] = append(w.ours[c.network], base(address))
}

// share is one payment.
type share struct{ address, amount string }

// pay pays shares in one transaction and returns its hash.
func (w *harness) pay(c *currency, shares ...share) string {
	w.t.Helper()
	hash, err := w.tryPay(c, shares...)
	w.must(err)
	return hash
}

func (w *harness) tryPay(c *currency, shares ...share) (string, error) {
	list := make([]params, len(shares))
	for i, s := range shares {
		list[i] = params{"address": s.address, "amount": s.amount}
	}
	body := any(map[string]any{"currency": c.code, "payments": list})
	if len(shares) == 1 {
		body = map[string]any{"currency": c.code, "address": shares[0].address, "amount": json.Number(shares[0].amount)}
	}
	var paid struct{ HashID string }
	err := w.sandbox.ask(http.MethodPost, "/pay", body, &paid)
	return paid.HashID, err
}

// mine mines blocks on all chains at once.
func (w *harness) mine(blocks int) {
	w.t.Helper()
	w.must(w.everywhere(func(n *network) error { return w.tryMine(n, blocks) }))
}

func (w *harness) tryMine(n *network, blocks int) error {
	return w.sandbox.ask(http.MethodPost, "/mine", map[string]any{"chain": n.chain, "blocks": blocks}, nil)
}

// everywhere runs an action on all chains at once.
func (w *harness) everywhere(do func(*network) error) error {
	var group sync.WaitGroup
	networks := w.networks()
	errs := make([]error, len(networks))
	for i, n := range networks {
		group.Go(func() { errs[i] = do(n) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (w *harness) reorg(n *network, depth int, drop []string) {
	w.t.Helper()
	w.must(w.sandbox.ask(http.MethodPost, "/reorg", map[string]any{"chain": n.chain, "depth": depth, "drop": drop}, nil))
}

// blocks has blocks mined automatically, "auto", or only on request, "manual".
func (w *harness) blocks(mode string) {
	w.t.Helper()
	w.must(w.sandbox.ask(http.MethodPost, "/blocks", params{"mode": mode}, nil))
}

type chainView struct {
	Height           uint64
	Kind, Fault, Hot string
}

func (w *harness) view(n *network) chainView {
	w.t.Helper()
	all, err := w.views()
	w.must(err)
	return all[n.chain]
}

// views is what the sandbox says of its chains, by name.
func (w *harness) views() (map[string]chainView, error) {
	var all struct{ Chains map[string]chainView }
	err := w.sandbox.ask(http.MethodGet, "/chains", nil, &all)
	return all.Chains, err
}

func (w *harness) rpc(n *network) string { return w.sandbox.Chains[n.chain].RPC }

// onChain is an address's balance on the chain.
func (w *harness) onChain(c *currency, address string) *big.Int {
	w.t.Helper()
	var held struct{ Balance string }
	w.must(w.sandbox.ask(http.MethodGet, "/balance?"+url.Values{"currency": {c.code}, "address": {base(address)}}.Encode(),
		nil, &held))
	return c.units(held.Balance)
}

// external is a new external address.
func (w *harness) external(c *currency) string {
	w.t.Helper()
	var made struct{ Address string }
	w.must(w.sandbox.ask(http.MethodPost, "/address", params{"currency": c.code}, &made))
	return made.Address
}

// settled waits until the deposits of receipts have a status.
func (w *harness) settled(status string, list ...receipt) {
	w.t.Helper()
	for _, r := range list {
		w.eventually(fmt.Sprintf("deposit of %s becomes %q", r.code, status), func() error { return r.is(status) })
	}
}

// credited waits for confirmed deposits and their webhooks.
func (w *harness) credited(list ...receipt) {
	w.t.Helper()
	w.settled("confirmed", list...)
	for _, r := range list {
		for _, amount := range r.amounts {
			w.eventually("webhook of a deposit of "+r.code, func() error {
				return r.account.notified("deposit", r.of(r.hash, amount))
			})
		}
	}
}
