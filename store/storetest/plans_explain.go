package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var parameter = regexp.MustCompile(`\$(\d+)`)

// onPostgres returns the scans of a statement on PostgreSQL.
func (p *Plans) onPostgres(query string) []string {
	p.t.Helper()
	return p.plan(query, parameters(query)).scans(p.partial)
}

// parameters returns how many parameters a statement has.
func parameters(query string) (last int) {
	for _, match := range parameter.FindAllStringSubmatch(query, -1) {
		n, _ := strconv.Atoi(match[1])
		last = max(last, n)
	}
	return last
}

// plan returns PostgreSQL's plan of a statement with so many parameters.
func (p *Plans) plan(query string, last int) planNode {
	p.t.Helper()
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
	return plans[0].Plan
}

// CheckWithin fails the test for each statement that reads a table by an index and looks at columns of the index in the
// table, which would be a page of the table for nearly every row that it leaves out. It is called after Check. SQLite
// does not say where it looks, and looks at an index first (sqlite.org/opcode.html, DeferredSeek).
func (p *Plans) CheckWithin(index string, columns ...string) {
	p.t.Helper()
	if !p.DB.Postgres() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	read := 0
	for _, query := range slices.Sorted(maps.Keys(p.seen)) {
		for _, n := range p.plan(query, parameters(query)).of(index) {
			read++
			if slices.ContainsFunc(columns, func(column string) bool { return strings.Contains(n.Filter, column) }) {
				p.t.Errorf("%s: PostgreSQL reads %s and looks at %s in the table\nin %s", p.seen[query], index, n.Filter, query)
			}
		}
	}
	if read == 0 {
		p.t.Errorf("no statement reads the index %s", index)
	}
}

// of returns the nodes that read an index.
func (n planNode) of(index string) (found []planNode) {
	if n.Index == index {
		found = append(found, n)
	}
	for _, child := range n.Plans {
		found = append(found, child.of(index)...)
	}
	return found
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
	// rowSpan is a part of an index between two rows of one value: those of an account's side.
	rowSpan = regexp.MustCompile(`ROW\((\w+), \w+\) >= ROW\((\$\d+), .*ROW\((\w+), \w+\) <= ROW\((\$\d+), `)
)

// scans returns which tables that grow are read as a whole.
func (n planNode) scans(partial map[string]bool) (found []string) {
	serves := partial[n.Index] || equality.MatchString(n.Condition) || span.MatchString(n.Condition) ||
		rowSpan.MatchString(n.Condition)
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
