package storetest

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bursar/bursar/store"
)

// grows are the tables whose rows grow with customers or with time. No statement that is made often, or while somebody
// waits for its answer, may read one of them from one end to the other.
var grows = []string{"accounts", "alarms", "api_keys", "archived_sums", "attempts", "balances", "charges", "invoices",
	"invoice_options",
	"invoice_payments", "invoice_quotes", "invoice_refunds", "invoice_moments", "invoice_proposals", "payment_links",
	"checkpoints",
	"deposits", "entries", "events",
	"fundings", "holdings", "idempotency", "links", "noticed_alarms",
	"outgoing_txs", "outgoing_versions", "posted", "postings",
	"previous_txs", "proposals",
	"reservations", "seals", "used_outputs", "utxos", "wallets", "watched_parts", "withdrawals"}

// Plans collects the statements that read, and checks how the database would execute each.
type Plans struct {
	DB *store.DB // the database whose statements are collected

	t       testing.TB
	url     string
	raw     *sql.DB         // the same database, beside the store
	partial map[string]bool // indexes that hold only some rows of their table

	mu   sync.Mutex
	seen map[string]string // the name of each statement; "" while it has none
}

// NewPlans collects the statements of a database that Open opened.
func NewPlans(t testing.TB, db *store.DB) *Plans {
	t.Helper()
	p := &Plans{t: t, url: URL(db), partial: map[string]bool{}, seen: map[string]string{}}
	p.DB = db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
		if at == store.Running && strings.HasPrefix(strings.TrimSpace(query), "SELECT") {
			p.mu.Lock()
			defer p.mu.Unlock()
			if _, known := p.seen[query]; !known {
				p.seen[query] = ""
			}
		}
		return nil
	}})
	return p
}

// Made returns how many statements were made since the last call of Name.
func (p *Plans) Made() (made int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range p.seen {
		if of == "" {
			made++
		}
	}
	return made
}

// Name returns how many statements were made since the last call, and names them.
func (p *Plans) Name(name string) (made int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for query, of := range p.seen {
		if of == "" {
			p.seen[query] = name
			made++
		}
	}
	return made
}

// Leave leaves statements out that begin with a text, because of a reason for which they may read a whole table.
func (p *Plans) Leave(prefix, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for query := range p.seen {
		if strings.HasPrefix(query, prefix) {
			p.t.Logf("%s: %s", reason, query)
			delete(p.seen, query)
		}
	}
}

// Check fills the tables that grow and fails the test for each statement that reads all of one of them.
//
// PostgreSQL plans each for any values (plan_cache_mode, PostgreSQL 15, 20.7.4) over tables of some thousand rows, and
// without sequential scans wherever there is another way (enable_seqscan, 20.7.1): what is left reads a table because
// no index serves, and an index that is read from end to end only to filter its rows counts as the same. SQLite says
// whether it searches or scans (eqp.html).
func (p *Plans) Check() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open()
	explain := p.onSQLite
	if p.DB.Postgres() {
		explain = p.onPostgres
		p.fill()
	}
	for _, query := range slices.Sorted(maps.Keys(p.seen)) {
		if scans := explain(query); len(scans) > 0 {
			p.t.Errorf("%s: %s\nin %s\nwant an index that serves it", p.seen[query], strings.Join(scans, "; "), query)
		}
	}
}

// CheckOnSQLite is Check for statements that must all search by one index of a table, and sort nothing.
func (p *Plans) CheckOnSQLite(table, index string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open()
	for _, query := range slices.Sorted(maps.Keys(p.seen)) {
		for _, detail := range p.explained(query) {
			searches := strings.HasPrefix(detail, "SEARCH "+table+" USING ") && strings.Contains(detail, " INDEX "+index+" ")
			if strings.Contains(detail, " "+table+" ") && !searches || strings.Contains(detail, "TEMP B-TREE") {
				p.t.Errorf("%s: SQLite: %s\nin %s\nwant a search by %s in its order", p.seen[query], detail, query, index)
			}
		}
	}
}

// explained returns what SQLite says of how it would execute a statement.
func (p *Plans) explained(query string) (details []string) {
	p.t.Helper()
	found, err := p.raw.Query("EXPLAIN QUERY PLAN " + parameter.ReplaceAllString(query, "NULL"))
	if err != nil {
		p.t.Fatalf("explain %s: %v", query, err)
	}
	defer found.Close()
	for found.Next() {
		var id, parent, unused int
		var detail string
		if err := found.Scan(&id, &parent, &unused, &detail); err != nil {
			p.t.Fatal(err)
		}
		details = append(details, detail)
	}
	if err := found.Err(); err != nil {
		p.t.Fatal(err)
	}
	return details
}

// open opens the database beside the store.
func (p *Plans) open() {
	p.t.Helper()
	driver, source := "pgx", AsOwner(p.url)+"&default_query_exec_mode=simple_protocol"
	if file, is := store.SQLiteFile(p.url); is {
		driver, source = "sqlite", file
	}
	pool, err := sql.Open(driver, source)
	if err != nil {
		p.t.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	p.t.Cleanup(func() { pool.Close() })
	p.raw = pool
}

// exec runs a statement on the one connection.
func (p *Plans) exec(statement string) {
	p.t.Helper()
	if _, err := p.raw.Exec(statement); err != nil {
		p.t.Fatalf("%s: %v", statement, err)
	}
}

// pairs returns what a query of two columns of text gives, in its order.
func (p *Plans) pairs(query string) (list [][2]string) {
	p.t.Helper()
	found, err := p.raw.Query(query)
	if err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
	defer found.Close()
	for found.Next() {
		var pair [2]string
		if err := found.Scan(&pair[0], &pair[1]); err != nil {
			p.t.Fatal(err)
		}
		list = append(list, pair)
	}
	if err := found.Err(); err != nil {
		p.t.Fatal(err)
	}
	return list
}
