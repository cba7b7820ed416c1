package service_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

// scenario is a running service whose log is kept, with one account that is notified of everything.
type scenario struct {
	*testing.T
	service *service.Service
	node    *sim.Chain
	log     *journal
	clock   *clocktest.Clock
	refuse  atomic.Int64 // number of webhooks that the receiver still refuses
	issued  account.Issued
	hook    string
	seed    []byte
}

// token is part of the receiver's URL, as for some real receivers.
const token = "q9Xr-token-of-the-receiver"

func newScenario(t *testing.T, url string) *scenario {
	t.Helper()
	tl := &scenario{T: t, log: &journal{}, clock: newClock(),
		node: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2}),
		seed: bytes.Repeat([]byte{0xa7}, 64)}
	db := storetest.OpenAt(t, url, tl.clock.Now)
	keys, err := signer.KeysFromSeed(tl.seed, signer.Testnet)
	tl.need(err)
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	tl.need(err)
	tl.service, err = service.New(service.Parts{DB: db, Keys: keys, Registry: registry, Pace: 10 * time.Millisecond,
		Holder: "a", LeaseTTL: time.Hour,
		Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Log:     slog.New(slog.NewJSONHandler(tl.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Chains:  []service.ChainPart{{Chain: tl.node, MaxFee: bursar.Units(1 << 30)}}})
	tl.need(err)
	tl.receive()
	tl.open(db)
	run(t, tl.service)
	eventually(t, "the chain is followed", func() bool {
		states, err := tl.service.ChainStatus(ctx)
		return err == nil && len(states) == 1 && states[0].Height >= 0
	})
	return tl
}

func (tl *scenario) need(err error) {
	tl.Helper()
	if err != nil {
		tl.Fatal(err)
	}
}

// receive starts the account's receiver.
func (tl *scenario) receive() {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if tl.refuse.Add(-1) >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	tl.Cleanup(receiver.Close)
	tl.hook = receiver.URL + "/hook?token=" + token
}

// open creates the account, which is notified of everything.
func (tl *scenario) open(db *store.DB) {
	tl.Helper()
	id := tl.service.IDs.Next()
	tl.need(db.Do(ctx, func(tx *store.Tx) error {
		err := tx.Accounts().Insert(ctx, bursar.Account{ID: id, Name: "shop", CreatedAt: tx.Now(), WebhookGeneration: 1,
			NotifyPending: true, NotifyWithdrawals: true})
		if err != nil {
			return err
		}
		_, err = tx.Wallets().SetWebhookRule(ctx, id, "", tl.hook)
		return err
	}))
	var err error
	tl.issued, err = tl.service.Accounts.NewKey(ctx,
		account.Grant{Account: id, Scopes: account.AllScopes(), WithSecret: true})
	tl.need(err)
}

// paid creates a wallet, pays to it and returns the deposit, which is in a block and not final, and its transaction.
func (tl *scenario) paid() (depositID bursar.ID, hash string) {
	tl.Helper()
	w, err := tl.service.Wallets.Create(ctx,
		wallet.New{Account: tl.issued.AccountID, Currency: native.Code, Webhook: tl.hook})
	tl.need(err)
	hash = tl.node.Pay(chain.Payment{Address: w.Address, Amount: bursar.Units(300_000_000)})
	tl.node.Mine(1)
	eventually(tl.T, "the deposit is seen", func() bool {
		err := tl.service.DB.View(ctx, func(tx *store.Tx) error {
			list, err := tx.Deposits().ByTx(ctx, tl.issued.AccountID, []bursar.ChainID{bursar.Bitcoin}, []string{hash})
			if len(list) == 1 {
				depositID = list[0].ID
			}
			return err
		})
		return err == nil && !depositID.IsZero()
	})
	return depositID, hash
}

// logLines returns the log lines with any of the IDs: the messages, each with its attributes.
func (tl *scenario) logLines(ids ...bursar.ID) (lines []string) {
	for text := range strings.Lines(tl.log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			tl.Fatalf("the log has %s", text)
		}
		for _, name := range []string{"deposit", "withdrawal", "outgoing"} {
			if named, is := line[name].(string); is && slices.ContainsFunc(ids, func(id bursar.ID) bool {
				return id.String() == named
			}) {
				lines = append(lines, sketch(line))
				break
			}
		}
	}
	return lines
}

// sketch formats a line's level, message, and the few attributes that distinguish it from similar lines.
func sketch(line map[string]any) string {
	text := fmt.Sprintf("%s %s", line["level"], line["msg"])
	for _, name := range []string{"kind", "status", "attempt", "code", "height"} {
		if v, has := line[name]; has && v != "withdrawal" {
			text += fmt.Sprintf(" %s=%v", name, v)
		}
	}
	return text
}

// logs waits until the log has exactly these lines with the IDs.
func (tl *scenario) logs(want []string, ids ...bursar.ID) {
	tl.Helper()
	eventually(tl.T, fmt.Sprintf("the log has %q", want[len(want)-1]), func() bool {
		return len(tl.logLines(ids...)) >= len(want)
	})
	if got := tl.logLines(ids...); !slices.Equal(got, want) {
		tl.Fatalf("the log lines are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// documented checks that every message of some log lines is in the operators' documents.
func (tl *scenario) documented(story []string) {
	tl.Helper()
	text, err := os.ReadFile("../docs/operations.md")
	tl.need(err)
	for _, line := range story {
		_, message, _ := strings.Cut(line, " ")
		if at := strings.IndexAny(message, "="); at > 0 {
			message = message[:strings.LastIndex(message[:at], " ")]
		}
		if !strings.Contains(string(text), "`"+message+"`") {
			tl.Errorf("docs/operations.md does not explain %q", message)
		}
	}
}

// keeps fails the test if the log contains anything secret.
func (tl *scenario) keeps() {
	tl.Helper()
	keys, err := signer.KeysFromSeed(tl.seed, signer.Testnet)
	tl.need(err)
	webhook := signer.WebhookSecretText(keys.WebhookSecret(tl.issued.AccountID, 1))
	for what, secret := range map[string]string{"an API key": tl.issued.APIKey, "an API secret": tl.issued.APISecret,
		"a webhook's secret":                  webhook,
		"a webhook's secret without its mark": strings.TrimPrefix(webhook, "whsec_"), "the seed": hex.EncodeToString(tl.seed),
		"a receiver's token": token, "a URL": "http://"} {
		if log := tl.log.String(); len(secret) < 7 || strings.Contains(log, secret) {
			tl.Errorf("the log has %s", what)
		}
	}
}

// The log has every step of a deposit under its ID, once and in order: also if the webhook is refused at first, if a
// credited deposit is reorged out, and if it is included again.
func TestTheLogFollowsADeposit(t *testing.T) {
	t.Parallel()
	bursartest.EachURL(t, func(t *testing.T, url string) {
		tl := newScenario(t, url)
		id, hash := tl.paid()
		want := []string{"INFO deposit seen status=pending height=1", "INFO event recorded kind=deposit_pending",
			"INFO webhook delivered kind=deposit_pending attempt=1 code=200"}
		tl.logs(want, id)

		tl.refuse.Store(1)
		tl.node.Mine(1)
		want = append(want, "INFO deposit credited height=1", "INFO event recorded kind=deposit",
			"WARN webhook failed kind=deposit attempt=1 code=503")
		tl.logs(want, id)
		tl.clock.Advance(time.Minute) // after the pause before the next attempt
		want = append(want, "INFO webhook delivered kind=deposit attempt=2 code=200")
		tl.logs(want, id)

		tl.node.Reorg(2, hash)
		want = append(want, "ERROR deposit reversed height=1", "INFO event recorded kind=deposit_reversed",
			"INFO webhook delivered kind=deposit_reversed attempt=1 code=200")
		tl.logs(want, id)

		tl.node.Restore(hash)
		tl.node.Mine(1)
		want = append(want, "INFO deposit seen status=pending height=4", "INFO event recorded kind=deposit_pending",
			"INFO webhook delivered kind=deposit_pending attempt=1 code=200")
		tl.logs(want, id)
		tl.node.Mine(1)
		want = append(want, "INFO deposit credited height=4", "INFO event recorded kind=deposit",
			"INFO webhook delivered kind=deposit attempt=1 code=200")
		tl.logs(want, id)
		tl.keeps()
		tl.documented(want)
	})
}

// A deposit that is reorged out before it was credited is logged as well.
func TestTheLogNamesAReversedDeposit(t *testing.T) {
	t.Parallel()
	tl := newScenario(t, storetest.Reused(t))
	id, hash := tl.paid()
	want := []string{"INFO deposit seen status=pending height=1", "INFO event recorded kind=deposit_pending",
		"INFO webhook delivered kind=deposit_pending attempt=1 code=200"}
	tl.logs(want, id)
	tl.node.Reorg(1, hash)
	want = append(want, "WARN deposit orphaned height=1")
	tl.logs(want, id)
	tl.keeps()
	tl.documented(want)
}

// The log has every step of a withdrawal under its ID and that of its outgoing transaction.
func TestTheLogFollowsAWithdrawal(t *testing.T) {
	t.Parallel()
	tl := newScenario(t, storetest.Reused(t))
	deposited, _ := tl.paid()
	tl.node.Mine(1)
	eventually(t, "the deposit is credited", func() bool {
		return slices.Contains(tl.logLines(deposited), "INFO deposit credited height=1")
	})
	w, err := tl.service.Withdrawals.Request(ctx,
		withdrawal.Request{Account: tl.issued.AccountID, Currency: native.Code, Amount: "0.1",
			Address: tl.node.Named("outside")})
	tl.need(err)
	var outgoingID bursar.ID
	eventually(t, "it is taken up", func() bool {
		got, err := tl.service.Withdrawals.Get(ctx, tl.issued.AccountID, w.ID)
		outgoingID = got.OutgoingID
		return err == nil && !outgoingID.IsZero()
	})
	want := []string{"INFO withdrawal requested status=queued", "INFO withdrawal assigned to outgoing transaction",
		"INFO outgoing transaction built",
		"INFO outgoing transaction signed",
		"INFO event recorded", "INFO outgoing transaction sent", "INFO webhook delivered attempt=1 code=200"}
	tl.logs(want, w.ID, outgoingID)
	tl.node.Mine(1)
	want = append(want, "INFO outgoing transaction included height=3")
	tl.logs(want, w.ID, outgoingID)
	tl.node.Reorg(1)
	want = append(want, "WARN outgoing transaction reorged out height=3", "INFO outgoing transaction included height=4")
	tl.logs(want, w.ID, outgoingID)
	tl.node.Mine(1)
	want = append(want, "INFO outgoing transaction final height=4", "INFO withdrawal settled", "INFO event recorded",
		"INFO webhook delivered attempt=1 code=200")
	tl.logs(want, w.ID, outgoingID)
	tl.keeps()
	tl.documented(want)
}
