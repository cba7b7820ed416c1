package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// postgres is the reference on PostgreSQL.
type postgres struct{ pool *pgxpool.Pool }

func openPostgres(ctx context.Context, url string) (backend, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, `
		CREATE TABLE items(id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL,
			amount BIGINT NOT NULL);
		CREATE INDEX items_name ON items(name);
		CREATE TABLE balances(id BIGINT PRIMARY KEY, amount BIGINT NOT NULL CHECK (amount >= 0));
		CREATE TABLE entries(id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, debit BIGINT NOT NULL,
			credit BIGINT NOT NULL, amount BIGINT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now());
		CREATE INDEX entries_debit ON entries(debit, id);
		CREATE INDEX entries_credit ON entries(credit, id);`)
	if err == nil {
		_, err = pool.Exec(ctx,
			`INSERT INTO items(name, amount) SELECT 'n' || n, n FROM generate_series(1, $1::int) n`, rows)
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
		CREATE TABLE entries(id INTEGER PRIMARY KEY, debit INTEGER NOT NULL, credit INTEGER NOT NULL,
			amount INTEGER NOT NULL, at INTEGER NOT NULL);
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
	_, err = s.write.ExecContext(ctx, `INSERT INTO items(name, amount) SELECT value, 0 FROM json_each($1)`,
		string(text))
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
		SELECT 0, value ->> 'To', value ->> 'Amount', $2 FROM json_each($1)`,
		string(entries), time.Now().UnixMicro()); err != nil {
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

// replaceDatabase returns a PostgreSQL URL with another database of the same server.
func replaceDatabase(text, name string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text // the caller's connection says what is wrong
	}
	u.Path = "/" + name
	return u.String()
}
