package service

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// rotating is a service and its remote signer, which another epoch's may replace.
type rotating struct {
	*testing.T
	*Service
	answers http.Handler
}

// RoundTrip implements http.RoundTripper.
func (r *rotating) RoundTrip(q *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	r.answers.ServeHTTP(w, q)
	return w.Result(), nil
}

// seedsIn are the keys of two seeds in an epoch.
func seedsIn(t *testing.T, e chain.Epoch) *signer.Keys {
	t.Helper()
	keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{1}, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	next, err := signer.KeysFromSeed(bytes.Repeat([]byte{2}, 64), signer.Testnet)
	if err == nil {
		err = errors.Join(keys.Add(next), keys.Begin(e))
	}
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// signsIn makes the signer one of an epoch, whose export is changed before it is served.
func (r *rotating) signsIn(e chain.Epoch, change func(*signer.KeyExport)) {
	r.Helper()
	keys := seedsIn(r.T, e)
	signs, err := signer.New(keys, nil)
	if err != nil {
		r.Fatal(err)
	}
	exported, err := keys.Export()
	if err != nil {
		r.Fatal(err)
	}
	if change != nil {
		change(&exported)
	}
	r.answers = (&remote.Server{Signer: signs, KeyExport: exported, Log: slog.New(slog.DiscardHandler)}).Handler()
}

func newRotating(t *testing.T, fromFile bool) *rotating {
	t.Parallel()
	r := &rotating{T: t}
	r.signsIn(0, nil)
	client := remote.Over(r)
	exported, err := client.Hello(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := signer.FromKeyExport(exported)
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Config{URL: storetest.SQLite(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	a := &remoteSigner{WatchOnly: keys, client: client}
	r.Service, err = New(Parts{DB: db, Keys: a, Signer: a, Registry: registry, KeysFromFile: fromFile})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hears makes the service do once what it does twice a second, and reports whether it wants to be opened again.
func (r *rotating) hears() (again bool, err error) {
	r.Helper()
	if _, err := r.SendHalts(r.Context()); err != nil {
		r.Fatal(err)
	}
	err = r.hearEpoch(r.Context())
	select {
	case <-r.NewEpoch():
		return true, err
	default:
		return false, err
	}
}

func (r *rotating) alarmed() bool {
	r.Helper()
	found := false
	err := r.DB.View(r.Context(), func(tx *store.Tx) error {
		alarms, err := tx.Alarms().List(r.Context(), 10)
		for _, a := range alarms {
			found = found || a.Kind == alarmEpoch && a.ResolvedAt.IsZero()
		}
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return found
}

// A running service that has its keys from the signer wants to be opened again once that has begun an epoch, and gives
// out no address from then on.
func TestAServiceHearsOfAnEpoch(t *testing.T) {
	r := newRotating(t, false)
	if again, err := r.hears(); again || err != nil || r.epochEnded(7) {
		t.Errorf("in the signer's epoch: wants to be opened again: %t, %v, gives out no address: %t; want no, nil, no", again,
			err, r.epochEnded(7))
	}
	r.signsIn(1, nil)
	if again, err := r.hears(); !again || err != nil || r.alarmed() {
		t.Errorf("after an epoch began: wants to be opened again: %t, %v, alarm: %t; want yes, nil, no", again, err,
			r.alarmed())
	}
	if !r.epochEnded(7) || !r.epochEnded(chain.Epoch(1).First()) {
		t.Error("it gives out addresses of the epoch that ended, or without keys")
	}
}

// The attack: something that answers in the signer's place says that an epoch has begun, of a seed of its own.
func TestAServiceBelievesNoEpochThatTheSignerDidNotSign(t *testing.T) {
	for name, change := range map[string]func(*signer.KeyExport){
		"another epoch in force": func(h *signer.KeyExport) { h.Public.Epoch = 1 },
		"no signature":           func(h *signer.KeyExport) { h.Public.Epoch, h.Epochs = 1, nil },
		"another seed": func(h *signer.KeyExport) {
			other, err := signer.KeysFromSeed(bytes.Repeat([]byte{9}, 64), signer.Testnet)
			if err != nil {
				t.Fatal(err)
			}
			h.Public.Epoch, h.Public.Later = 1, []signer.PublicKeys{other.ExportPublic()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRotating(t, false)
			r.signsIn(0, change)
			if again, err := r.hears(); again || !errors.Is(err, signer.ErrBadPublicKeys) || r.epochEnded(7) {
				t.Errorf("wants to be opened again: %t, %v, gives out no address: %t; want no, %v, no", again, err,
					r.epochEnded(7), signer.ErrBadPublicKeys)
			}
		})
	}
}

// A service with a watch-only file cannot have the keys: it raises an alarm, and gives out no address of the epoch that
// ended.
func TestAWatchOnlyServiceWaitsForItsFile(t *testing.T) {
	r := newRotating(t, true)
	r.signsIn(1, nil)
	if again, err := r.hears(); again || err != nil || !r.alarmed() || !r.epochEnded(7) {
		t.Errorf("wants to be opened again: %t, %v, alarm: %t, gives out no address: %t; want no, nil, yes, yes", again, err,
			r.alarmed(), r.epochEnded(7))
	}
	r.signsIn(0, nil)
	if _, err := r.hears(); err != nil || r.alarmed() {
		t.Errorf("with the signer in its epoch again: %v, alarm: %t; want nil, no", err, r.alarmed())
	}
}
