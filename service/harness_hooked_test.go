package service_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/withdrawal"
)

// logBuffer is a log that a test may read while it is written.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *logBuffer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *logBuffer) Bytes() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.text.Bytes())
}

// hooked is a whole service, an account on it, and the account's receiver.
type hooked struct {
	*testing.T
	*service.Service
	node   *sim.Chain
	keys   *signer.Keys
	seed   []byte
	issued account.Issued
	log    logBuffer
	url    string // URL of the receiver

	mu     sync.Mutex
	gone   map[string]bool // paths that answer 410
	events []client.Event
	at     map[string]string // the path that each event was sent to, by ID
	raw    [][]byte          // raw headers and bodies
}

func newHooked(t *testing.T, url string) *hooked {
	t.Helper()
	h := &hooked{T: t, node: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2}),
		gone: map[string]bool{}, at: map[string]string{}}
	for i := range 64 {
		h.seed = append(h.seed, byte(201+i*7))
	}
	var err error
	h.keys, err = signer.KeysFromSeed(bytes.Clone(h.seed), signer.Testnet)
	h.must(err)
	limited := native
	limited.ApprovalAbove = bursar.Units(50_000_000)
	registry, err := bursar.NewRegistry([]bursar.Currency{limited})
	h.must(err)
	receiver := httptest.NewServer(http.HandlerFunc(h.receive))
	t.Cleanup(receiver.Close)
	h.url = receiver.URL
	h.Service, err = service.New(service.Parts{DB: open(t, url), Keys: h.keys, Registry: registry,
		Pace: 10 * time.Millisecond, Holder: "one",
		Chains:  []service.ChainPart{{Chain: h.node, MaxFee: bursar.Units(1 << 30)}},
		Allowed: loopback, Log: slog.New(slog.NewTextHandler(&h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0"})
	h.must(err)
	h.must(h.Listen())
	yes, own := true, h.hook("/account")
	h.issued, err = h.Accounts.CreateWith(ctx, "shop", true,
		account.Settings{NotifyPending: &yes, NotifyWithdrawals: &yes, Webhook: &own,
			Receivers: netpolicy.Receivers{Networks: loopback}})
	h.must(err)
	return h
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// hook returns a URL of the receiver with a secret in it.
func (h *hooked) hook(path string) string { return h.url + path + "?token=hunter2" }

func (h *hooked) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *hooked) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var event client.Event
	if err == nil {
		event, err = client.VerifyWebhook(h.secret(1), r.Header, body, h.DB.Now())
	}
	if err != nil {
		h.Errorf("received %s: %v", body, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.raw = append(h.raw, fmt.Appendf(body, "\n%v", r.Header))
	if h.gone[r.URL.Path] {
		w.WriteHeader(http.StatusGone)
		return
	}
	if _, twice := h.at[event.EventID]; !twice {
		h.events = append(h.events, event)
	}
	h.at[event.EventID] = r.URL.Path
}

func (h *hooked) secret(generation uint32) string {
	return signer.WebhookSecretText(h.keys.WebhookSecret(h.issued.AccountID, generation))
}

// notified waits until the receiver has the given number of events of a kind.
func (h *hooked) notified(kind string, n int) {
	h.Helper()
	eventually(h.T, fmt.Sprintf("%d events %s are received", n, kind), func() bool { return h.count(kind) >= n })
	if got := h.count(kind); got != n {
		h.Errorf("%s was sent %d times, want %d", kind, got, n)
	}
}

func (h *hooked) count(kind string) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if e.Event == kind || e.Withdrawal != nil && e.Event+" "+e.Withdrawal.Status == kind {
			n++
		}
	}
	return n
}

func (h *hooked) pay(to bursar.Address, units uint64) string {
	return h.node.Pay(chain.Payment{Address: to, Amount: bursar.Units(units)})
}

func (h *hooked) withdraw(amount, to string) bursar.Withdrawal {
	h.Helper()
	w, err := h.Withdrawals.Request(ctx, withdrawal.Request{Account: h.issued.AccountID, Currency: native.Code,
		Amount: amount, Address: h.node.Named(to)})
	h.must(err)
	return w
}

// everyEvent causes each kind of event.
func (h *hooked) everyEvent() (w bursar.Wallet) {
	h.Helper()
	eventually(h.T, "the chain is followed", func() bool {
		states, err := h.ChainStatus(ctx)
		return err == nil && len(states) == 1 && states[0].Height >= 0
	})
	w, err := h.Wallets.Create(ctx, wallet.New{Account: h.issued.AccountID, Currency: native.Code,
		Webhook: h.hook("/wallet"), Metadata: "order 1"})
	h.must(err)
	c, err := h.Charges.Create(ctx, charge.Request{Account: h.issued.AccountID, Currency: native.Code,
		Webhook: h.hook("/charge"), Life: time.Hour})
	h.must(err)
	h.pay(bursar.Address{Base: h.Hot(bursar.Bitcoin).Base}, 900_000_000)
	h.pay(w.Address, 500_000_000)
	h.pay(c.Address, 2_000_000)
	h.node.Mine(1)
	h.notified(client.EventDepositPending, 2)
	h.node.Mine(1)
	h.notified(client.EventDeposit, 1)
	h.notified(client.EventPaid, 1)
	gone := h.pay(w.Address, 7_000_000)
	h.node.Mine(2)
	h.notified(client.EventDeposit, 2)
	h.node.Reorg(2, gone)
	h.notified(client.EventDepositReversed, 1)
	h.node.Restore(gone)
	h.node.Mine(2)
	h.notified(client.EventDeposit, 3)
	h.notified(client.EventDepositPending, 4)
	h.withdraw("0.1", "small")
	approved, rejected := h.withdraw("0.6", "large"), h.withdraw("0.7", "refused")
	_, err = h.Withdrawals.Approve(ctx, approved.ID)
	h.must(err)
	_, err = h.Withdrawals.Reject(ctx, rejected.ID, "no")
	h.must(err)
	h.notified("withdrawal broadcast", 2)
	h.node.Mine(2)
	h.notified("withdrawal confirmed", 2)
	h.notified("withdrawal rejected", 1)
	h.notified("withdrawal queued", 1)
	_, err = h.TestDeliveries.Record(ctx, webhook.TestDelivery{Account: h.issued.AccountID, Wallet: w.ID})
	h.must(err)
	h.notified(client.EventTest, 1)
	return w
}
