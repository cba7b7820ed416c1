package archive_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var (
	shop  = bursar.ID{1}
	start = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
)

// history is a database with an account, whose events are made an hour apart.
type history struct {
	bursartest.Database
	t    *testing.T
	db   *store.DB
	made int
}

func onHistory(t *testing.T, test func(h *history)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		db = storetest.Open(t, storetest.AsOwner(storetest.URL(db))) // the service may remove nothing
		h := &history{t: t, db: db, Database: bursartest.Over(t, db)}
		h.AddAccount(bursar.Account{ID: shop})
		test(h)
	})
}

// event makes an event and has it attempted once, with an outcome; "": it is not attempted.
func (h *history) event(outcome string) store.Delivery {
	h.t.Helper()
	h.made++
	id := bursar.ID{9, byte(h.made >> 8), byte(h.made)}
	h.Do(func(tx *store.Tx) error {
		return tx.Events().Insert(h.t.Context(), bursar.Event{ID: id, AccountID: shop, Kind: bursar.EventDeposit,
			Subject: bursar.ID{3}, URL: "https://example.com/hook", Body: []byte(`{"n": "ü` + "\u2028" + `"}`),
			CreatedAt: start.Add(time.Duration(h.made) * time.Hour)})
	})
	if outcome != "" {
		h.attempt(id, outcome)
	}
	return h.read(id)
}

// attempt leases an event and records an attempt.
func (h *history) attempt(id bursar.ID, outcome string) {
	h.t.Helper()
	h.Do(func(tx *store.Tx) error {
		due, err := tx.Deliveries().Due(h.t.Context(), nil, 1000)
		for _, d := range due {
			if d.ID == id && err == nil {
				err = tx.Deliveries().RecordAttempts(h.t.Context(), []store.Outcome{{Event: d.Number, Due: d.NextAt,
					Status: outcome, Attempt: store.Attempt{At: tx.Now(), Duration: time.Millisecond, Code: 200}}})
			}
		}
		return err
	})
}

func (h *history) read(id bursar.ID) (d store.Delivery) {
	h.t.Helper()
	h.View(func(tx *store.Tx) (err error) {
		d, err = tx.Deliveries().ByID(h.t.Context(), id)
		return err
	})
	return d
}

// has reports whether the database has an event.
func (h *history) has(id bursar.ID) bool {
	h.t.Helper()
	err := h.db.View(h.t.Context(), func(tx *store.Tx) error {
		_, err := tx.Deliveries().ByID(h.t.Context(), id)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		h.t.Fatal(err)
	}
	return err == nil
}

func (h *history) write(before time.Time) (file string, s archive.Summary) {
	h.t.Helper()
	file = filepath.Join(h.t.TempDir(), "events.gz")
	s, err := archive.Write(h.t.Context(), h.db, file, before)
	if err != nil {
		h.t.Fatal(err)
	}
	return file, s
}

// What is delivered and old enough is in the file, as it was, and is removed; nothing else is. Balances stay.
func TestDeliveredEventsMoveIntoAFile(t *testing.T) {
	t.Parallel()
	onHistory(t, func(h *history) {
		h.Credit(shop, "BTC", 7)
		old := h.event(store.DeliveryDelivered)
		pending, failed := h.event(""), h.event(store.DeliveryFailed)
		second, young, newest := h.event(store.DeliveryDelivered), h.event(store.DeliveryDelivered), h.event("")
		file, s := h.write(young.CreatedAt)
		if s.Events != 2 || !s.First.Equal(old.CreatedAt) || !s.Last.Equal(second.CreatedAt) || !h.has(old.ID) {
			t.Fatalf("the file has %+v, want the 2 old delivered events, and nothing removed yet", s)
		}
		var found []archive.Event
		if _, err := archive.Each(file, func(e archive.Event) error { found = append(found, e); return nil }); err != nil {
			t.Fatal(err)
		}
		if got := found[0]; got.ID != old.ID || string(got.Body) != string(old.Body) || got.Account != shop ||
			got.URL != old.URL || !got.DeliveredAt.Equal(old.DeliveredAt) || len(got.Attempts) != 1 ||
			got.Attempts[0].Code != 200 {
			t.Errorf("the oldest event is archived as %+v, want it as it was: %+v", got, old)
		}
		removed, err := archive.Remove(t.Context(), h.db, file)
		if err != nil || removed != 2 || h.has(old.ID) || h.has(second.ID) {
			t.Errorf("%d are removed (%v), want the 2 of the file", removed, err)
		}
		for _, kept := range []store.Delivery{pending, failed, young, newest} {
			if !h.has(kept.ID) {
				t.Errorf("event %d, %s, is removed too, want it kept", kept.Number, kept.Status)
			}
		}
		if again, err := archive.Remove(t.Context(), h.db, file); err != nil || again != 0 {
			t.Errorf("a second time %d are removed (%v), want none", again, err)
		}
		if has := h.Balance(ledger.Available(shop), "BTC"); has != bursar.Units(7) {
			t.Errorf("the balance is %s afterwards, want 7", has)
		}
	})
}

// An event that was sent again since the file was written stays, because the file lacks its last attempt.
func TestAnEventThatChangedStays(t *testing.T) {
	t.Parallel()
	onHistory(t, func(h *history) {
		again, due := h.event(store.DeliveryDelivered), h.event(store.DeliveryDelivered)
		h.event("")
		file, _ := h.write(start.AddDate(1, 0, 0))
		h.Do(func(tx *store.Tx) error {
			for _, id := range []bursar.ID{again.ID, due.ID} {
				if _, err := tx.Deliveries().Redeliver(t.Context(), shop, id); err != nil {
					return err
				}
			}
			return nil
		})
		h.attempt(again.ID, store.DeliveryDelivered)
		if removed, err := archive.Remove(t.Context(), h.db, file); err != nil || removed != 0 || !h.has(again.ID) ||
			!h.has(due.ID) {
			t.Errorf("%d are removed (%v), want none: one was sent again, the other is due", removed, err)
		}
	})
}

// The newest event stays, so that no number is given out twice.
func TestTheNewestEventStays(t *testing.T) {
	t.Parallel()
	onHistory(t, func(h *history) {
		first, newest := h.event(store.DeliveryDelivered), h.event(store.DeliveryDelivered)
		file, s := h.write(start.AddDate(1, 0, 0))
		removed, err := archive.Remove(t.Context(), h.db, file)
		if err != nil || s.Events != 1 || removed != 1 || h.has(first.ID) || !h.has(newest.ID) {
			t.Errorf("%d of %d are removed (%v), want only the first", removed, s.Events, err)
		}
		if next := h.event(""); next.Number <= newest.Number {
			t.Errorf("the next event has number %d, want one above %d", next.Number, newest.Number)
		}
	})
}

// A file that lacks a byte, has another one or a further line removes nothing, and no file is overwritten.
func TestADamagedArchiveRemovesNothing(t *testing.T) {
	t.Parallel()
	onHistory(t, func(h *history) {
		for range 3 {
			h.event(store.DeliveryDelivered)
		}
		file, _ := h.write(start.AddDate(1, 0, 0))
		if _, err := archive.Write(t.Context(), h.db, file, start); !errors.Is(err, archive.ErrExists) {
			t.Errorf("writing over a file gives %v, want ErrExists", err)
		}
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(whole); i += 7 {
			damaged := append([]byte{}, whole...)
			damaged[i] ^= 1
			if s, err := check(h, damaged); err == nil && s.Events != 2 {
				t.Fatalf("with byte %d changed it has %d events, want an error or the same", i, s.Events)
			}
			if _, err := check(h, whole[:i]); !errors.Is(err, archive.ErrDamaged) {
				t.Fatalf("cut after %d bytes it gives %v, want ErrDamaged", i, err)
			}
		}
		if _, err := check(h, append(append([]byte{}, whole...), whole...)); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("a file twice gives %v, want ErrDamaged", err)
		}
		cut := filepath.Join(t.TempDir(), "cut")
		if err := os.WriteFile(cut, whole[:len(whole)-3], 0o600); err != nil {
			t.Fatal(err)
		}
		removed, err := archive.Remove(context.Background(), h.db, cut)
		if !errors.Is(err, archive.ErrDamaged) || removed != 0 {
			t.Errorf("%d are removed (%v), want none and ErrDamaged", removed, err)
		}
	})
}

func check(h *history, content []byte) (archive.Summary, error) {
	h.t.Helper()
	file := filepath.Join(h.t.TempDir(), "copy")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		h.t.Fatal(err)
	}
	return archive.Check(file)
}
