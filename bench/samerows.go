package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The rows that the service writes for a wallet and for a transfer, written by a bare program into the service's own
// schema: with its indexes and references, and none of its checks, seals, fees and events' receivers. It is what a rate
// is bounded by as long as the rows stay as they are (decision 119), on PostgreSQL only.

// sameRows writes rows of the service's tables.
type sameRows struct {
	pool   *pgxpool.Pool
	number atomic.Int64 // of wallets and links
	payer  []byte       // accounts
	taker  []byte
}

// balancesOfRows are the ledger accounts that a transfer changes.
var balancesOfRows = []string{"available:payer", "available:taker"}

// openSameRows makes two accounts, and the wallet that is paid.
func openSameRows(ctx context.Context, url string) (*sameRows, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	s := &sameRows{pool: pool, payer: newRowID(), taker: newRowID()}
	for _, id := range [][]byte{s.payer, s.taker} {
		if err == nil {
			_, err = pool.Exec(ctx, `INSERT INTO accounts(id, name, created_at) VALUES ($1, 'rows', 0)`, id)
		}
	}
	if err == nil {
		err = s.wallets(ctx, []string{""})
	}
	if err == nil {
		_, err = pool.Exec(ctx, `INSERT INTO balances(account, asset, debits, credits)
			SELECT a, 'BTC', '0', '1000000000000' FROM unnest($1::text[]) a`, balancesOfRows)
	}
	return s, err
}

// newRowID returns an ID whose order is that of time, as the service's are.
func newRowID() []byte {
	id := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMicro()))
	return append(id, randomBytes(8)...)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails (crypto/rand)
	return b
}

// wallets writes a row for each metadata, and the counters of numbers, indexes and wallets.
func (s *sameRows) wallets(ctx context.Context, metadata []string) error {
	var numbers []int64
	var ids [][]byte
	var bases []string
	for range metadata {
		numbers, ids = append(numbers, s.number.Add(1)), append(ids, newRowID())
		bases = append(bases, "bcrt1q"+hex.EncodeToString(randomBytes(19)))
	}
	var b pgx.Batch
	b.Queue(`BEGIN`)
	b.Queue(`INSERT INTO counters(name, next) VALUES ('wallets', $1), ('family:bitcoin', $1) ON CONFLICT (name)
		DO UPDATE SET next = counters.next + excluded.next`, len(metadata))
	b.Queue(`INSERT INTO wallets(number, id, account_id, currency, family, key_index, base, memo, webhook, webhook_version,
			metadata, for_charge, created_at)
		SELECT n, i, $1, 'BTC', 'bitcoin', n, b, -1, 'https://example.com/hook', 0, m, FALSE, $6
		FROM unnest($2::bigint[], $3::bytea[], $4::text[], $5::text[]) AS x(n, i, b, m)`,
		s.payer, numbers, ids, bases, metadata, time.Now().UnixMicro())
	b.Queue(`INSERT INTO wallet_counts(account_id, currency, wallets) VALUES ($1, 'BTC', $2)
		ON CONFLICT (account_id, currency) DO UPDATE SET wallets = wallet_counts.wallets + excluded.wallets`,
		s.payer, len(metadata))
	b.Queue(`COMMIT`)
	return s.pool.SendBatch(ctx, &b).Close()
}

// transfers writes the rows of as many transfers from one account to another's wallet, in two round trips.
func (s *sameRows) transfers(ctx context.Context, amounts []string) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var refs []string
	for range amounts {
		refs = append(refs, hex.EncodeToString(newRowID()))
	}
	now := time.Now().UnixMicro()
	var b pgx.Batch
	b.Queue(`SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE`, s.payer)
	b.Queue(`SELECT debits FROM balances WHERE asset = 'BTC' AND account = ANY ($1::text[]) ORDER BY account FOR UPDATE`,
		balancesOfRows)
	var entries []int64
	b.Queue(`INSERT INTO entries(kind, ref, at) SELECT 'direct_transfer', r, $2 FROM unnest($1::text[]) AS x(r)
		RETURNING number`, refs, now).Query(func(rows pgx.Rows) (err error) {
		entries, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	if err := tx.SendBatch(ctx, s.lastRows(amounts, entries, now)).Close(); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// lastRows are the statements of a transfer that need no answer.
func (s *sameRows) lastRows(amounts []string, entries []int64, now int64) *pgx.Batch {
	var ids, events, seals [][]byte
	var txIDs []string
	body := []byte(strings.Repeat("x", 600)) // about as long as an event's
	for range amounts {
		ids, events, seals = append(ids, newRowID()), append(events, newRowID()), append(seals, randomBytes(48))
		txIDs = append(txIDs, hex.EncodeToString(randomBytes(32)))
	}
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO postings(entry, place, debit, credit, asset, amount)
		SELECT e, 0, $1, $2, 'BTC', a FROM unnest($3::bigint[], $4::text[]) AS x(e, a)`,
		balancesOfRows[0], balancesOfRows[1], entries, amounts)
	b.Queue(`UPDATE balances SET debits = $2 WHERE asset = 'BTC' AND account = ANY ($1::text[])`, balancesOfRows,
		fmt.Sprint(now))
	b.Queue(`INSERT INTO withdrawals(id, account_id, currency, chain, amount, fee, base, memo, status, tx_id, created_at,
			completed_at, seal)
		SELECT i, $1, 'BTC', 'bitcoin', a, '0', 'bcrt1qtaker', -1, 'confirmed', t, $2, $2, s
		FROM unnest($3::bytea[], $4::text[], $5::text[], $6::bytea[]) AS x(i, a, t, s)`,
		s.payer, now, ids, amounts, txIDs, seals)
	b.Queue(`INSERT INTO deposits(id, purpose, account_id, wallet, currency, chain, tx_id, output, base, memo, contract,
			amount, fee, status, height, block_hash, seen_at, confirmed_at)
		SELECT i, 'wallet', $1, 1, 'BTC', 'bitcoin', t, 0, 'bcrt1qtaker', -1, '', a, '0', 'confirmed', 0, '', $2, $2
		FROM unnest($3::bytea[], $4::text[], $5::text[]) AS x(i, a, t)`, s.taker, now, ids, amounts, txIDs)
	b.Queue(`INSERT INTO events(id, account_id, kind, subject, url, body, created_at, status, next_at)
		SELECT e, $1, 'deposit_confirmed', i, 'https://example.com/hook', $2, $3, 'pending', $3
		FROM unnest($4::bytea[], $5::bytea[]) AS x(e, i)`, s.taker, body, now, events, ids)
	link := s.number.Add(1)
	b.Queue(`UPDATE link_head SET number = $1 WHERE name = 'books'`, link)
	b.Queue(`INSERT INTO links(number, at, key_id, size, hash) VALUES ($1, $2, '', $3, $4)`, link, now, len(entries),
		seals[0])
	b.Queue(`INSERT INTO seals(entry, link) SELECT e, $1 FROM unnest($2::bigint[]) e`, link, entries)
	return b
}

// handleRows adds the calls that write such rows.
func handleRows(ctx context.Context, s *sameRows, handle func(pattern string, f handler)) {
	wallets := gather(ctx, s.wallets)
	handle("POST /rows/wallet", func(r *http.Request) (any, error) {
		var body struct{ Metadata string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		return map[string]any{"success": true, "response": body}, wallets(r.Context(), body.Metadata)
	})
	transfers := gather(ctx, s.transfers)
	handle("POST /rows/transfer", func(r *http.Request) (any, error) {
		var body struct{ Amount json.Number }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return nil, err
		}
		return map[string]any{"success": true, "response": body}, transfers(r.Context(), body.Amount.String())
	})
}
