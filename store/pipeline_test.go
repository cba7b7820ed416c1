package store_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// roundTripsTo puts a listener before the server of a URL, which counts how often a client asks it something and waits.
func roundTripsTo(t *testing.T, server string) (through string, trips func() int) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	port := query.Get("port")
	if port == "" {
		port = "5432"
	}
	name := ".s.PGSQL." + port
	behind := filepath.Join(query.Get("host"), name)
	dir := t.TempDir()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var mu sync.Mutex
	count, answered := 0, true
	side := func(to io.Writer, from io.Reader, note func()) {
		buffer := make([]byte, 1<<16)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			mu.Lock()
			note()
			mu.Unlock()
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serve, err := (&net.Dialer{}).DialContext(context.WithoutCancel(t.Context()), "unix", behind)
			if err != nil {
				client.Close()
				return
			}
			go func() {
				defer serve.Close()
				side(serve, client, func() {
					if answered {
						count, answered = count+1, false
					}
				})
			}()
			go func() {
				defer client.Close()
				side(client, serve, func() { answered = true })
			}()
		}
	}()
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	return u.String(), func() int {
		mu.Lock()
		defer mu.Unlock()
		return count
	}
}

// What nobody waits for goes over with the next statement whose result is needed: a transaction that posts an entry
// takes one round trip for its begin, the entry's name and the balances, one for all that it writes and the newest
// link, and one for the link and the commit.
func TestATransactionTakesFewRoundTrips(t *testing.T) {
	t.Parallel()
	server, trips := roundTripsTo(t, postgresOnly(t))
	db, err := store.OpenAsIs(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	post := func(id byte) int {
		before := trips()
		err := db.Do(t.Context(), func(tx *store.Tx) error {
			w := bursar.Withdrawal{ID: bursar.ID{id}, AccountID: bursar.ID{1}, Currency: "BTC"}
			return tx.Ledger().Post(t.Context(), ledger.TreasuryFunded(w, bursar.Units(5), tx.Now()))
		})
		if err != nil {
			t.Fatal(err)
		}
		return trips() - before
	}
	post(1) // prepares the statements and creates the balances
	post(2)
	if took := post(3); took != 3 {
		t.Errorf("a transaction that posts an entry took %d round trips, want 3", took)
	}
}

// A statement that the server refuses undoes its transaction, wherever the error comes to light, and nobody takes the
// commit for one whose outcome is unknown.
func TestARefusedStatementUndoesItsTransaction(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, postgresOnly(t))
	ctx := t.Context()
	refused := func(tx *store.Tx) error {
		if err := tx.Run(ctx, `INSERT INTO settings(name, value) VALUES ('kept', 'x')`); err != nil {
			return err
		}
		return tx.Later(ctx, "write settings", `INSERT INTO settings(name, value) VALUES ('a', NULL)`)
	}
	for name, after := range map[string]func(tx *store.Tx) error{
		"at the commit": func(*store.Tx) error { return nil },
		"at a read, whose error is passed over": func(tx *store.Tx) error {
			var n int
			_ = tx.Ask(ctx, &n, `SELECT 1`)
			return nil
		},
	} {
		err := db.Do(ctx, func(tx *store.Tx) error { return errors.Join(refused(tx), after(tx)) })
		if err == nil || errors.Is(err, store.ErrCommit) || !strings.Contains(err.Error(), "write settings: ") {
			t.Errorf("%s: the error is %v, want that of the statement, and no ErrCommit", name, err)
		}
		var kept int
		err = db.View(ctx, func(tx *store.Tx) error {
			return tx.Ask(ctx, &kept, `SELECT count(*) FROM settings WHERE name = 'kept'`)
		})
		if err != nil || kept != 0 {
			t.Errorf("%s: %d rows are there afterwards (%v), want 0", name, kept, err)
		}
	}
}

// A result that went over behind a statement which the server refused is an error, not nothing, even where the error of
// that statement was passed over.
func TestAResultBehindARefusedStatementIsAnError(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, postgresOnly(t))
	ctx := t.Context()
	var rules bursar.FeeRules
	var asked error
	err := db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Later(ctx, "write settings", `INSERT INTO settings(name, value) VALUES ('a', NULL)`); err != nil {
			return err
		}
		soon := tx.FeeRules().OfDeferred(ctx, bursar.ID{1})
		_ = tx.Run(ctx, `SELECT 1`)
		rules, asked = soon.Get(ctx)
		return nil
	})
	if asked == nil || rules != nil || err == nil {
		t.Errorf("the result is %v, its error %v and the transaction's %v, want no result and two errors", rules, asked, err)
	}
}

// Where the connection breaks during a commit, nobody knows whether the changes stand.
func TestACommitThatBreaksIsOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, postgresOnly(t))
	ctx := t.Context()
	err := db.Do(ctx, func(tx *store.Tx) error {
		return tx.Later(ctx, "end the connection", `SELECT pg_terminate_backend(pg_backend_pid())`)
	})
	if !errors.Is(err, store.ErrCommit) {
		t.Errorf("the error is %v, want ErrCommit", err)
	}
	if err := db.View(ctx, func(tx *store.Tx) error { return tx.Run(ctx, `SELECT 1`) }); err != nil {
		t.Errorf("the next transaction fails: %v, want it on another connection", err)
	}
}

// A transaction whose function panics, or fails before it has asked the server anything, gives its connection back.
func TestAConnectionComesBack(t *testing.T) {
	t.Parallel()
	db, err := store.Open(t.Context(), store.Config{URL: postgresOnly(t), Conns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx := t.Context()
	func() {
		defer func() { _ = recover() }()
		_ = db.Do(ctx, func(tx *store.Tx) error {
			if err := tx.Run(ctx, `INSERT INTO settings(name, value) VALUES ('half', 'x')`); err != nil {
				t.Error(err)
			}
			panic("half way")
		})
	}()
	errEarly := errors.New("early")
	if err := db.Do(ctx, func(*store.Tx) error { return errEarly }); !errors.Is(err, errEarly) {
		t.Errorf("the error is %v, want %v", err, errEarly)
	}
	var there int
	err = db.Do(ctx, func(tx *store.Tx) error {
		return tx.Ask(ctx, &there, `SELECT count(*) FROM settings WHERE name = 'half'`)
	})
	if err != nil || there != 0 {
		t.Errorf("%d rows of a transaction that panicked are there (%v), want 0", there, err)
	}
}

// A server that ended a connection a moment ago, before anybody asked it anything, is asked again over another one.
func TestAConnectionThatTheServerEndedIsReplaced(t *testing.T) {
	t.Parallel()
	server := postgresOnly(t)
	other := storetest.Open(t, server)
	db, err := store.Open(t.Context(), store.Config{URL: server, Conns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx := t.Context()
	var pid int
	ask := func(tx *store.Tx) error { return tx.Ask(ctx, &pid, `SELECT pg_backend_pid()`) }
	for name, run := range map[string]func(context.Context, func(*store.Tx) error) error{
		"Read": db.Read, "View": db.View, "Do": db.Do,
	} {
		if err := db.View(ctx, ask); err != nil {
			t.Fatal(err)
		}
		err := other.Do(ctx, func(tx *store.Tx) error {
			return tx.Run(ctx, `SELECT pg_terminate_backend($1::int, 10000)`, pid) // it waits until that has ended
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := run(ctx, ask); err != nil {
			t.Errorf("%s fails on a connection that the server has ended: %v, want it over another one", name, err)
		}
	}
}

// Behind a pooler a URL names another way of the driver to send statements. All of them can send several at once.
func TestEveryWayOfSendingStatementsPosts(t *testing.T) {
	t.Parallel()
	server := postgresOnly(t)
	for i, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		db := storetest.Open(t, server+"&default_query_exec_mode="+mode)
		w := bursar.Withdrawal{ID: bursar.ID{byte(i + 1)}, AccountID: bursar.ID{1}, Currency: "BTC"}
		err := db.Do(t.Context(), func(tx *store.Tx) error {
			tx.IdempotencyKeys().Keep(store.KeyName{Account: bursar.ID{1}, Name: mode}, []byte("h"),
				store.Answer{Status: 200, Body: []byte("{}")})
			return tx.Ledger().Post(t.Context(), ledger.TreasuryFunded(w, bursar.Units(5), tx.Now()))
		})
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		var balance ledger.Balance
		err = db.View(t.Context(), func(tx *store.Tx) (err error) {
			balance, err = tx.Ledger().Balance(t.Context(), ledger.Available(bursar.ID{1}), "BTC")
			return err
		})
		if want := bursar.Units(5 * uint64(i+1)); err != nil || balance.Credits != want {
			t.Errorf("%s: the balance has %v credited (%v), want %v", mode, balance.Credits, err, want)
		}
	}
}
