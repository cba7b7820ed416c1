package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// The reference is what a small program does on the same machine and database server: plain net/http, the same
// authentication from memory, one statement for a read, and writes of concurrent requests gathered into one
// transaction. It keeps no promises beyond those: no idempotency, no events, no checks of the books.

// referenceCommand is the argument that makes this binary the reference program.
const referenceCommand = "reference"

// referenceKey is the one key that the reference accepts.
const referenceKey = "0123456789abcdef0123456789abcdef0123456789abcdef"

// gatherLimit is the most requests of one transaction.
const gatherLimit = 200

// backend is what the reference does with a database.
type backend interface {
	read(ctx context.Context, id int64) (name string, amount int64, err error)
	insert(ctx context.Context, names []string) error
	transfer(ctx context.Context, to []int64, amounts []int64) error
}

// rows is the number of rows that a point read chooses from, and of the accounts that transfers go to.
const rows = 10_000

func serveReference(args []string) error {
	set := flag.NewFlagSet(referenceCommand, flag.ContinueOnError)
	url := set.String("database", "", "PostgreSQL URL, or file:PATH of SQLite")
	if err := set.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	b, err := openBackend(ctx, *url)
	if err != nil {
		return fmt.Errorf("open the reference's database: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	go func() { // it ends with the process that started it
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, referenceHandler(ctx, b))
}

func openBackend(ctx context.Context, url string) (backend, error) {
	if len(url) > 5 && url[:5] == "file:" {
		return openSQLite(ctx, url)
	}
	return openPostgres(ctx, url)
}

// referenceHandler serves the reference's paths.
func referenceHandler(ctx context.Context, b backend) http.Handler {
	keys := map[[sha256.Size]byte]bool{sha256.Sum256([]byte(referenceKey)): true}
	mux := http.NewServeMux()
	handle := func(pattern string, f func(r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if !keys[sha256.Sum256([]byte(r.Header.Get("X-API-KEY")))] {
				http.Error(w, "unauthorized", http.StatusUnauthorized)
				return
			}
			answer, err := f(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			writeJSON(w, answer)
		})
	}
	mux.HandleFunc("GET /bare", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]bool{"success": true})
	})
	handle("GET /auth", func(*http.Request) (any, error) { return map[string]bool{"success": true}, nil })
	handle("GET /point", func(r *http.Request) (any, error) {
		id, err := strconv.ParseInt(r.FormValue("id"), 10, 64)
		if err != nil {
			return nil, err
		}
		name, amount, err := b.read(r.Context(), id)
		return map[string]any{"success": true, "response": map[string]any{"name": name, "amount": amount}}, err
	})
	inserts := gather(ctx, func(ctx context.Context, names []string) error { return b.insert(ctx, names) })
	handle("POST /insert", func(r *http.Request) (any, error) {
		var body struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		return map[string]any{"success": true, "response": body}, inserts(r.Context(), body.Name)
	})
	type transfer struct{ To, Amount int64 }
	transfers := gather(ctx, func(ctx context.Context, list []transfer) error {
		to, amounts := make([]int64, len(list)), make([]int64, len(list))
		for i, t := range list {
			to[i], amounts[i] = t.To, t.Amount
		}
		return b.transfer(ctx, to, amounts)
	})
	handle("POST /transfer", func(r *http.Request) (any, error) {
		var body transfer
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		return map[string]any{"success": true, "response": body}, transfers(r.Context(), body)
	})
	return mux
}

func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// gather returns a function that adds an item to the next transaction, and returns once that is committed. There is one
// transaction at a time; what comes meanwhile is in the next one.
func gather[T any](ctx context.Context, commit func(context.Context, []T) error) func(context.Context, T) error {
	type job struct {
		item T
		done chan error
	}
	jobs := make(chan job, 4096)
	go func() {
		for first := range jobs {
			batch := []job{first}
		more:
			for len(batch) < gatherLimit {
				select {
				case j := <-jobs:
					batch = append(batch, j)
				default:
					break more
				}
			}
			items := make([]T, len(batch))
			for i, j := range batch {
				items[i] = j.item
			}
			err := commit(ctx, items)
			for _, j := range batch {
				j.done <- err
			}
		}
	}()
	return func(ctx context.Context, item T) error {
		done := make(chan error, 1)
		select {
		case jobs <- job{item, done}:
		case <-ctx.Done():
			return ctx.Err()
		}
		return <-done
	}
}

// postgres is the reference on PostgreSQL.
type postgres struct{ pool *pgxpool.Pool }

func openPostgres(ctx context.Context, url string) (backend, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, `
		CREATE TABLE items(id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, amount BIGINT NOT NULL);
		CREATE INDEX items_name ON items(name);
		CREATE TABLE balances(id BIGINT PRIMARY KEY, amount BIGINT NOT NULL CHECK (amount >= 0));
		CREATE TABLE entries(id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, debit BIGINT NOT NULL, credit BIGINT NOT NULL,
			amount BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now());
		CREATE INDEX entries_debit ON entries(debit, id);
		CREATE INDEX entries_credit ON entries(credit, id);`)
	if err == nil {
		_, err = pool.Exec(ctx, `INSERT INTO items(name, amount) SELECT 'n' || n, n FROM generate_series(1, $1::int) n`, rows)
	}
	if err == nil {
		_, err = pool.Exec(ctx, `INSERT INTO balances(id, amount) SELECT n, 0 FROM generate_series(1, $1::int) n
			UNION ALL SELECT 0, 1000000000000000`, rows)
	}
	return &postgres{pool}, err
}

func (p *postgres) read(ctx context.Context, id int64) (name string, amount int64, err error) {
	err = p.pool.QueryRow(ctx, `SELECT name, amount FROM items WHERE id = $1`, id).Scan(&name, &amount)
	return name, amount, err
}

func (p *postgres) insert(ctx context.Context, names []string) error {
	_, err := p.pool.Exec(ctx, `INSERT INTO items(name, amount) SELECT n, 0 FROM unnest($1::text[]) n`, names)
	return err
}

// transfer moves amounts from balance 0 to others: entries, then balances, in two statements of one transaction.
func (p *postgres) transfer(ctx context.Context, to, amounts []int64) error {
	tx, err := p.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := tx.Exec(ctx, `INSERT INTO entries(debit, credit, amount)
		SELECT 0, t, a FROM unnest($1::bigint[], $2::bigint[]) AS x(t, a)`, to, amounts); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE balances b SET amount = b.amount + d.change FROM (
			SELECT id, sum(change) AS change FROM (
				SELECT t AS id, a AS change FROM unnest($1::bigint[], $2::bigint[]) AS x(t, a)
				UNION ALL SELECT 0, -a FROM unnest($2::bigint[]) AS y(a)) s GROUP BY id) d
		WHERE b.id = d.id`, to, amounts); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// sqlite is the reference on SQLite, in WAL mode with full sync.
type sqlite struct{ write, reads *sql.DB }

func openSQLite(ctx context.Context, url string) (backend, error) {
	url += "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)&_txlock=immediate"
	write, err := sql.Open("sqlite", url)
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	reads, err := sql.Open("sqlite", url)
	if err != nil {
		return nil, err
	}
	_, err = write.ExecContext(ctx, `
		CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount INTEGER NOT NULL);
		CREATE INDEX items_name ON items(name);
		CREATE TABLE balances(id INTEGER PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount >= 0));
		CREATE TABLE entries(id INTEGER PRIMARY KEY, debit INTEGER NOT NULL, credit INTEGER NOT NULL, amount INTEGER NOT NULL,
			at INTEGER NOT NULL);
		CREATE INDEX entries_debit ON entries(debit, id);
		CREATE INDEX entries_credit ON entries(credit, id);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
			INSERT INTO items(name, amount) SELECT 'n' || i, i FROM n;
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
			INSERT INTO balances(id, amount) SELECT i, 0 FROM n;
		INSERT INTO balances(id, amount) VALUES (0, 1000000000000000);`)
	return &sqlite{write, reads}, err
}

func (s *sqlite) read(ctx context.Context, id int64) (name string, amount int64, err error) {
	err = s.reads.QueryRowContext(ctx, `SELECT name, amount FROM items WHERE id = $1`, id).Scan(&name, &amount)
	return name, amount, err
}

func (s *sqlite) insert(ctx context.Context, names []string) error {
	text, err := json.Marshal(names)
	if err != nil {
		return err
	}
	_, err = s.write.ExecContext(ctx, `INSERT INTO items(name, amount) SELECT value, 0 FROM json_each($1)`, string(text))
	return err
}

func (s *sqlite) transfer(ctx context.Context, to, amounts []int64) error {
	changes := map[int64]int64{}
	type line struct{ To, Amount int64 }
	lines := make([]line, len(to))
	for i := range to {
		lines[i] = line{to[i], amounts[i]}
		changes[to[i]] += amounts[i]
		changes[0] -= amounts[i]
	}
	entries, err := json.Marshal(lines)
	if err != nil {
		return err
	}
	sums := make([]line, 0, len(changes))
	for id, change := range changes {
		sums = append(sums, line{id, change})
	}
	balances, err := json.Marshal(sums)
	if err != nil {
		return err
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `INSERT INTO entries(debit, credit, amount, at)
		SELECT 0, value ->> 'To', value ->> 'Amount', $2 FROM json_each($1)`, string(entries), time.Now().UnixMicro()); err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, `UPDATE balances SET amount = amount + d.change FROM (
			SELECT value ->> 'To' AS id, value ->> 'Amount' AS change FROM json_each($1)) d
		WHERE balances.id = d.id`, string(balances))
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != int64(len(sums)) {
		return errors.Join(err, fmt.Errorf("%d balances changed, want %d", n, len(sums)))
	}
	return tx.Commit()
}
