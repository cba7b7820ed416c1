package service_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The configuration takes the formats that there are.
func TestEveryFormatOfNoticesIsConfigured(t *testing.T) {
	t.Parallel()
	var known []string
	for _, f := range notice.Formats() {
		known = append(known, string(f))
	}
	if got := config.NoticeFormats(); !slices.Equal(got, known) {
		t.Errorf("the configuration takes %q, want %q", got, known)
	}
}

// A running service announces an alarm at the receivers of its configuration, and counts in the metrics what they took.
func TestAServiceNotifies(t *testing.T) {
	t.Parallel()
	got := make(chan notice.Message, 10)
	chat := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m notice.Message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		got <- m
	}))
	t.Cleanup(chat.Close)
	cfg, err := config.Parse("bursar.yaml", []byte("notices: {receivers: {chat: {webhook: '"+chat.URL+"'}}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	notifier := service.NewNotifier(cfg.Notices)
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	db := storetest.Open(t, storetest.Reused(t))
	err = db.Do(t.Context(), func(tx *store.Tx) error {
		return tx.Alarms().Raise(t.Context(), store.Alarm{Chain: bursar.Bitcoin, Kind: "external_spend", Message: "look"})
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Parts{DB: db, Keys: keys, Registry: noCurrencies(t), Pace: 10 * time.Millisecond,
		Holder: "a", Notifier: notifier, AdminListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	m := <-got
	if len(m.Notices) != 1 || m.Notices[0].Alarm != "external_spend" || !m.Notices[0].Grave ||
		m.Subject != "Bursar: URGENT: alarm external_spend opened on bitcoin" {
		t.Errorf("the receiver got %+v, want the alarm", m)
	}
	eventually(t, "the message is in the metrics", func() bool {
		metrics := get(t, s.Address("admin")+"/metrics")
		return strings.Contains(metrics, `bursar_notices_sent_total{receiver="chat"} 1`) &&
			strings.Contains(metrics, `bursar_notices_failing_seconds{receiver="chat"} 0`)
	})
}

// A secret that is gone concerns its receiver alone: the service starts, and money moves.
func TestAReceiverWithoutItsSecretStopsNothingElse(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "token")
	cfg, err := config.Parse("bursar.yaml", []byte("notices: {receivers: {chat: {webhook: 'https://127.0.0.1:1/', "+
		"format: matrix, token_file: '"+gone+"'}, other: {webhook: 'https://127.0.0.1:1/'}}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range service.NewNotifier(cfg.Notices).Receivers {
		_, err := r.Transport.Check(t.Context())
		sent := r.Transport.Send(t.Context(), notice.Message{})
		if wanted := r.Name == "chat"; errors.Is(err, os.ErrNotExist) != wanted || errors.Is(sent, os.ErrNotExist) != wanted {
			t.Errorf("%s: check says %v, send says %v, want the missing file: %v", r.Name, err, sent, wanted)
		}
	}
}
