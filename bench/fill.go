package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// filler writes rows into the service's database by SQL, beside the service: that many would take hours over its API.
// What it writes has the form of what the service writes; addresses and transactions in it belong to nobody.
type filler struct {
	db       *sql.DB
	postgres bool
}

func (s *site) filler() filler { return filler{s.db, s.kind == "postgres"} }

// A space distinguishes the IDs of one kind of row from those of others.
const (
	spaceAccount = "a0"
	spaceWallet  = "a1"
	spaceHealthy = "a2"
	spaceHanging = "a3"
	spaceDead    = "a4"
	spaceDeposit = "a5"

	spaceWithdrawal = "a6"
	spaceEvent      = "a7"
)

// chunk is how many rows one statement makes at most, so that progress can be shown and no transaction is endless.
const chunk = 500_000

// each runs f for the numbers after done up to all, in chunks.
func each(ctx context.Context, done, all int64, f func(from, to int64) error) error {
	for from := done + 1; from <= all; from += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(from, min(from+chunk-1, all)); err != nil {
			return err
		}
	}
	return nil
}

// series is a table s of the numbers n from $1 to $2.
func (f filler) series() string {
	if f.postgres {
		return `generate_series($1::bigint, $2::bigint) AS s(n)`
	}
	return `(WITH RECURSIVE s(n) AS (SELECT $1 UNION ALL SELECT n + 1 FROM s WHERE n < $2) SELECT n FROM s) AS s`
}

// id is the 16 bytes of an ID for an expression of a number.
func (f filler) id(space, n string) string {
	if f.postgres {
		return `decode('` + space + `' || lpad(to_hex(` + n + `), 30, '0'), 'hex')`
	}
	return `unhex('` + space + `' || printf('%030x', ` + n + `))`
}

// hexOf is a number in hexadecimal, with leading zeros.
func (f filler) hexOf(n string, digits int) string {
	if f.postgres {
		return fmt.Sprintf(`lpad(to_hex(%s), %d, '0')`, n, digits)
	}
	return fmt.Sprintf(`printf('%%0%dx', %s)`, digits, n)
}

// now is the time of the statement in microseconds.
func (f filler) now() string {
	if f.postgres {
		return `(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`
	}
	return `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`
}

func (f filler) exec(ctx context.Context, what, query string, args ...any) error {
	if _, err := f.db.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// bytesOf returns the 16 bytes of an ID's text.
func bytesOf(id string) ([]byte, error) {
	var raw []byte
	if _, err := fmt.Sscanf(strings.ReplaceAll(id, "-", ""), "%x", &raw); err != nil || len(raw) != 16 {
		return nil, fmt.Errorf("%q is not an ID", id)
	}
	return raw, nil
}

// events makes events due now for a receiver of an account.
func (f filler) events(ctx context.Context, space, account, url string, count int) error {
	id, err := bytesOf(account)
	if err != nil {
		return err
	}
	return each(ctx, 0, int64(count), func(from, to int64) error {
		return f.exec(ctx, "make events", `INSERT INTO events(id, account_id, kind, subject, url, body, created_at, status,
			next_at) SELECT `+f.id(space, "n")+`, $3, 'deposit', `+f.id(spaceDeposit, "n")+`, $4, $5, `+f.now()+`, 'pending', `+
			f.now()+` FROM `+f.series(), from, to, id, url, []byte(eventBody("a5000000-0000-0000-0000-000000000000")))
	})
}

// forgetEvents removes the events of a receiver.
func (f filler) forgetEvents(ctx context.Context, url string) error {
	err := f.exec(ctx, "remove attempts",
		`DELETE FROM attempts WHERE event IN (SELECT number FROM events WHERE url = $1)`, url)
	if err != nil {
		return err
	}
	if err := f.exec(ctx, "remove events", `DELETE FROM events WHERE url = $1`, url); err != nil || !f.postgres {
		return err
	}
	return f.exec(ctx, "vacuum events", `VACUUM ANALYZE events, attempts`)
}
