package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
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
	same := set.String("rows", "", "PostgreSQL URL of a database with the service's schema; empty: none")
	if err := set.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	b, err := openBackend(ctx, *url)
	if err != nil {
		return fmt.Errorf("open the reference's database: %w", err)
	}
	var rows *sameRows
	if *same != "" {
		if rows, err = openSameRows(ctx, *same); err != nil {
			return fmt.Errorf("open the database with the service's schema: %w", err)
		}
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
	return http.Serve(listener, referenceHandler(ctx, b, rows))
}

func openBackend(ctx context.Context, url string) (backend, error) {
	if len(url) > 5 && url[:5] == "file:" {
		return openSQLite(ctx, url)
	}
	return openPostgres(ctx, url)
}

// handler answers a request with what it returns, or with its error.
type handler func(r *http.Request) (any, error)

// referenceHandler serves the reference's paths. same is nil where there is no database with the service's schema.
func referenceHandler(ctx context.Context, b backend, same *sameRows) http.Handler {
	mux := http.NewServeMux()
	handle := authenticated(mux)
	mux.HandleFunc("GET /bare", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]bool{"success": true})
	})
	handle("GET /auth", func(*http.Request) (any, error) { return map[string]bool{"success": true}, nil })
	handle("GET /point", pointRead(b))
	handle("POST /deliver", deliveries)
	handle("POST /insert", insertion(ctx, b))
	handle("POST /transfer", transfers(ctx, b))
	if same != nil {
		handleRows(ctx, same, handle)
	}
	return mux
}

// authenticated returns a function that adds a path which the reference's key opens alone.
func authenticated(mux *http.ServeMux) func(pattern string, f handler) {
	keys := map[[sha256.Size]byte]bool{sha256.Sum256([]byte(referenceKey)): true}
	return func(pattern string, f handler) {
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
}

// pointRead reads one row.
func pointRead(b backend) handler {
	return func(r *http.Request) (any, error) {
		id, err := strconv.ParseInt(r.FormValue("id"), 10, 64)
		if err != nil {
			return nil, err
		}
		name, amount, err := b.read(r.Context(), id)
		return map[string]any{"success": true, "response": map[string]any{"name": name, "amount": amount}}, err
	}
}

// deliveries sends so many requests to a receiver.
func deliveries(r *http.Request) (any, error) {
	count, err := strconv.Atoi(r.FormValue("count"))
	if err != nil {
		return nil, err
	}
	return map[string]bool{"success": true}, deliver(r.Context(), r.FormValue("url"), count)
}

// insertion writes one row, in a transaction with those of other requests.
func insertion(ctx context.Context, b backend) handler {
	insert := gather(ctx, b.insert)
	return func(r *http.Request) (any, error) {
		var body struct{ Name string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		return map[string]any{"success": true, "response": body}, insert(r.Context(), body.Name)
	}
}

// transfers moves an amount between two accounts, in a transaction with those of other requests.
func transfers(ctx context.Context, b backend) handler {
	type transfer struct{ To, Amount int64 }
	move := gather(ctx, func(ctx context.Context, list []transfer) error {
		to, amounts := make([]int64, len(list)), make([]int64, len(list))
		for i, t := range list {
			to[i], amounts[i] = t.To, t.Amount
		}
		return b.transfer(ctx, to, amounts)
	})
	return func(r *http.Request) (any, error) {
		var body transfer
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		return map[string]any{"success": true, "response": body}, move(r.Context(), body)
	}
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
