package service_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/webhook"
)

// Nothing that leaves the service, in events of every kind, in the log, in metrics and on pages, and nothing that it
// stores is a secret. A webhook's own token is in the database and in the request that is sent there, nowhere else.
func TestNoSecretIsSentLoggedOrStored(t *testing.T) {
	t.Parallel()
	file := storetest.SQLite(t)
	h := newHooked(t, file)
	stop := run(t, h.Service)
	h.everyEvent()
	outside := map[string][]byte{}
	for _, path := range []string{"/metrics", "/", "/chains"} {
		outside["the admin side's "+path] = []byte(get(t, h.Address("admin")+path))
	}
	stop()
	outside["the log"] = h.log.Bytes()
	for i, raw := range h.raw {
		outside[fmt.Sprintf("request %d", i)] = raw
	}
	kept := map[string][]byte{}
	files, err := filepath.Glob(strings.TrimPrefix(file, "sqlite:") + "*")
	h.must(err)
	for _, name := range files {
		kept[filepath.Base(name)], err = os.ReadFile(name)
		h.must(err)
	}
	if len(h.raw) < 14 || len(outside["the log"]) < 1000 || len(kept["bursar.db"])+len(kept["bursar.db-wal"]) < 10_000 {
		t.Fatalf("there is little to look at: %d requests, %d bytes of log, "+
			"want at least 14 and at least 1000 and at least 10_000", len(h.raw), len(outside["the log"]))
	}
	for name, secret := range h.secrets() {
		for where, text := range outside {
			h.absent(name, secret, where, text)
		}
		for where, data := range kept {
			h.absent(name, secret, where, data)
		}
	}
	for where, text := range outside {
		if where != "the admin side's /" { // the operator may see where events go
			h.absent("the webhook's token", []byte("hunter2"), where, text)
		}
	}
}

// secrets returns all secrets, in every encoding that they might be written in.
func (h *hooked) secrets() map[string][]byte {
	all := map[string][]byte{"the API key": []byte(h.issued.APIKey), "the API secret": []byte(h.issued.APISecret),
		"the seed": h.seed}
	for generation := range uint32(3) {
		all[fmt.Sprint("webhook secret ", generation)] = h.keys.WebhookSecret(h.issued.AccountID, generation)
	}
	for name, secret := range all {
		all[name+" in hexadecimal"] = []byte(hex.EncodeToString(secret))
		all[name+" in base64"] = []byte(strings.TrimRight(base64.StdEncoding.EncodeToString(secret), "="))
		all[name+" in base64 for URLs"] = []byte(strings.TrimRight(base64.URLEncoding.EncodeToString(secret), "="))
	}
	return all
}

func (h *hooked) absent(name string, secret []byte, where string, text []byte) {
	h.Helper()
	if len(secret) < 7 {
		h.Fatalf("%s is too short to look for", name)
	}
	if at := bytes.Index(text, secret); at >= 0 {
		h.Errorf("%s is in %s, at byte %d", name, where, at)
	}
}

// Deliveries to a receiver that answered 410 Gone stop; once the webhook is changed, new events are sent to the new
// URL, and missed ones too on request.
func TestEventsFollowAReceiverThatMoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHooked(t, storetest.URL(db))
		run(t, h.Service)
		w := h.everyEvent()
		h.mu.Lock()
		h.gone["/wallet"] = true
		h.mu.Unlock()
		missed := func(n int) (list []store.Delivery) {
			t.Helper()
			eventually(t, "undeliverable events are kept", func() bool {
				h.must(h.DB.View(ctx, func(tx *store.Tx) (err error) {
					list, err = tx.Deliveries().Find(ctx,
						store.DeliveryFilter{Account: h.issued.AccountID, Status: store.DeliveryDisabled}, store.Page{Limit: 100})
					return err
				}))
				return len(list) >= n
			})
			return list
		}
		h.pay(w.Address, 1_000_000)
		h.node.Mine(1)
		missed(1) // pending
		h.node.Mine(1)
		list := missed(2) // and credited, which nobody attempted to send
		if list[0].Kind != bursar.EventDeposit || list[0].Attempts != 0 || list[0].URL != h.hook("/wallet") {
			t.Errorf("it is kept as %+v", list[0])
		}
		no := false
		_, err := h.Accounts.Set(ctx, h.issued.AccountID, account.Settings{NotifyPending: &no})
		h.must(err)
		_, err = h.Wallets.SetWebhook(ctx, wallet.Scope{Account: h.issued.AccountID, Wallet: w.ID}, h.hook("/moved"), nil)
		h.must(err)
		h.pay(w.Address, 1_000_000)
		h.node.Mine(2)
		h.notified(client.EventDeposit, 4)
		h.notified(client.EventDepositPending, 4) // no longer requested
		h.must(h.DB.Do(ctx, func(tx *store.Tx) error {
			due, _, err := tx.Deliveries().RedeliverSome(ctx,
				store.Redelivery{Account: h.issued.AccountID, FailedOnly: true, Limit: 100})
			if due != 2 {
				t.Errorf("%d are due, want 2", due)
			}
			return err
		}))
		h.notified(client.EventDeposit, 5)
		h.notified(client.EventDepositPending, 5)
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, d := range list {
			if at := h.at[d.ID.String()]; at != "/moved" {
				t.Errorf("%s came to %q, want %q", d.Kind, at, "/moved")
			}
		}
	})
}

// The deliverer's metrics have few label values, and never a receiver or an account.
func TestTheDeliverersMetrics(t *testing.T) {
	t.Parallel()
	h := newHooked(t, storetest.SQLite(t))
	run(t, h.Service)
	h.gone["/gone"] = true
	var metrics string
	read := func(line string) bool {
		metrics = get(t, h.Address("admin")+"/metrics")
		return strings.Contains(metrics, line+"\n")
	}
	for _, outcome := range webhook.Outcomes() {
		if line := fmt.Sprintf("bursar_webhook_attempts_total{outcome=%q} 0", outcome); !read(line) {
			t.Errorf("at first the metrics lack %s", line)
		}
	}
	for _, path := range []string{"/a", "/b", "/gone"} {
		_, err := h.TestDeliveries.Record(ctx, webhook.TestDelivery{Account: h.issued.AccountID, URL: h.hook(path)})
		h.must(err)
	}
	for _, line := range []string{`bursar_webhook_attempts_total{outcome="2xx"} 2`,
		`bursar_webhook_attempts_total{outcome="4xx"} 1`,
		`bursar_webhook_attempt_seconds_bucket{le="+Inf"} 3`, "bursar_webhook_attempt_seconds_count 3",
		"bursar_webhook_sending 0",
		"bursar_webhook_receivers_shut 0", "bursar_webhook_lag_seconds 0",
		`bursar_queue_waiting{chain="",queue="deliveries"} 0`} {
		eventually(t, "the metrics have "+line, func() bool { return read(line) })
	}
	for _, line := range strings.Split(metrics, "\n") {
		if strings.HasPrefix(line, "bursar_webhook_") &&
			(strings.Contains(line, "127.0.0.1") || strings.Contains(line, h.issued.AccountID.String())) {
			t.Errorf("a label identifies a receiver or an account: %s", line)
		}
	}
}
