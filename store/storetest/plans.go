package storetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
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
	"previous_txs",
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
	p.DB = db.As(db.Now, store.Conduct{Before: func(_ context.Context, at store.Point, query string) error {
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

var parameter = regexp.MustCompile(`\$(\d+)`)

// onPostgres returns the scans of a statement on PostgreSQL.
func (p *Plans) onPostgres(query string) []string {
	p.t.Helper()
	last := 0
	for _, match := range parameter.FindAllStringSubmatch(query, -1) {
		n, _ := strconv.Atoi(match[1])
		last = max(last, n)
	}
	execute := "EXPLAIN (FORMAT JSON) EXECUTE asked"
	if last > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("NULL,", last), ",") + ")"
	}
	p.exec("PREPARE asked AS " + query)
	defer p.exec("DEALLOCATE asked")
	var text string
	if err := p.raw.QueryRow(execute).Scan(&text); err != nil {
		p.t.Fatalf("explain %s: %v", query, err)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		p.t.Fatal(err)
	}
	return plans[0].Plan.scans(p.partial)
}

// fill fills the tables that grow with rows of finished things, all different, and has PostgreSQL plan for them.
func (p *Plans) fill() {
	p.t.Helper()
	p.exec("SET session_replication_role = replica")
	for _, table := range grows {
		p.exec(p.filling(table))
		p.exec("ANALYZE " + table)
	}
	p.exec("SET enable_seqscan = off")
	p.exec("SET plan_cache_mode = force_generic_plan")
	for _, index := range p.pairs(`SELECT relname, '' FROM pg_index JOIN pg_class ON oid = indexrelid
		WHERE indpred IS NOT NULL`) {
		p.partial[index[0]] = true
	}
}

// filling returns what fills a table, by the types of its columns.
func (p *Plans) filling(table string) string {
	p.t.Helper()
	var names, values []string
	for _, column := range p.pairs(`SELECT column_name, data_type FROM information_schema.columns
		WHERE table_name = '` + table + `'`) {
		name, kind := column[0], column[1]
		value := map[string]string{"bigint": "n + 1000000", "boolean": "FALSE",
			"bytea": "decode(lpad(to_hex(n), 32, '0'), 'hex')", "text": "'t' || n"}[kind]
		switch {
		case name == "account_id":
			value = "decode(lpad(to_hex(n % 1000), 32, '0'), 'hex')"
		case table == "withdrawals" && name == "outgoing_id":
			value = "CASE WHEN n % 2 = 0 THEN " + value + " END" // paid within the service
		case name == "status" && kind == "text":
			value = "'final'"
		case slices.Contains([]string{"chain", "currency", "asset", "family"}, name):
			value = "'c' || n % 5"
		}
		names, values = append(names, name), append(values, value)
	}
	return fmt.Sprintf(`INSERT INTO %s(%s) SELECT %s FROM generate_series(1, 3000) AS s(n) ON CONFLICT DO NOTHING`, table,
		strings.Join(names, ", "), strings.Join(values, ", "))
}

// planNode is a node of a plan of PostgreSQL.
type planNode struct {
	Type      string     `json:"Node Type"`
	Table     string     `json:"Relation Name"`
	Index     string     `json:"Index Name"`
	Condition string     `json:"Index Cond"`
	Filter    string     `json:"Filter"`
	Plans     []planNode `json:"Plans"`
}

var (
	equality = regexp.MustCompile(`[^<>!]= `)
	// span is a part of a table between two numbers, both of which the statement names: the numbers that a walk looks at.
	span = regexp.MustCompile(`number < \$\d+\) AND \(number >= \$\d+`)
)

// scans returns which tables that grow are read as a whole.
func (n planNode) scans(partial map[string]bool) (found []string) {
	serves := partial[n.Index] || equality.MatchString(n.Condition) || span.MatchString(n.Condition)
	switch {
	case n.Type == "Seq Scan" && slices.Contains(grows, n.Table):
		found = append(found, fmt.Sprintf("PostgreSQL reads all of %s", n.Table))
	case slices.Contains(grows, n.Table) && n.Index != "" && n.Filter != "" && !serves,
		n.Type == "Bitmap Index Scan" && !serves:
		found = append(found, fmt.Sprintf("PostgreSQL reads %s %s and leaves out what is not %s", n.Index, n.Condition,
			n.Filter))
	}
	for _, child := range n.Plans {
		found = append(found, child.scans(partial)...)
	}
	return found
}

var (
	aliased = regexp.MustCompile(`(?:FROM|JOIN) "?(\w+)"?(?: (?:AS )?(\w+))?`)
	scan    = regexp.MustCompile(`^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?`)
)

// onSQLite returns the scans of a statement on SQLite.
func (p *Plans) onSQLite(query string) (scans []string) {
	p.t.Helper()
	tables := map[string]string{}
	for _, match := range aliased.FindAllStringSubmatch(query, -1) {
		tables[match[1]] = match[1]
		if match[2] != "" {
			tables[match[2]] = match[1]
		}
	}
	for _, partial := range p.pairs(`SELECT name, '' FROM sqlite_master WHERE sql LIKE 'CREATE % INDEX % WHERE %'
		OR sql LIKE 'CREATE INDEX % WHERE %'`) {
		p.partial[partial[0]] = true
	}
	for _, detail := range p.explained(query) {
		match := scan.FindStringSubmatch(detail)
		if match != nil && slices.Contains(grows, tables[match[1]]) && !p.partial[match[2]] {
			scans = append(scans, "SQLite: "+detail)
		}
	}
	return scans
}
