package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// lines reads from the index of each side of each account apart, so that a page costs the page and not the history.
func (tx *Tx) lines(ctx context.Context, q LineQuery, from int64, down bool, limit int) ([]Line, error) {
	b := tx.lineBuilder(q, from, down)
	condition, most := b.condition(q), b.arg(limit)
	var branches []string
	for _, of := range b.sides(q) {
		branches = append(branches, fmt.Sprintf(`SELECT * FROM (SELECT entry, place, debit, credit, asset, amount
			FROM postings WHERE %s%s ORDER BY %s, place%s LIMIT %s) b%d`, of.where, condition, of.order, b.direction(), most,
			len(branches)))
	}
	return lineColumns.rows(ctx, tx, "list postings", fmt.Sprintf(`FROM (%s) p %s ORDER BY entry%s, place%s LIMIT %s`,
		strings.Join(branches, ` UNION `), b.entries(), b.direction(), b.direction(), most), b.args...)
}

// edge returns the last entry whose lines a page looks at, from a number on; 0: there is none.
func (tx Statements) edge(ctx context.Context, q LineQuery, from int64, down bool, looks int) (entry int64, err error) {
	if q.Asset == "" && q.Kind == "" || len(q.Accounts) == 0 {
		return 0, nil
	}
	b := tx.lineBuilder(q, from, down)
	skip := b.arg(looks - 1)
	var branches []string
	for _, of := range b.sides(q) {
		branches = append(branches, fmt.Sprintf(`SELECT * FROM (SELECT entry FROM postings WHERE %s ORDER BY %s
			LIMIT 1 OFFSET %s) b%d`, of.where, of.order, skip, len(branches)))
	}
	nearest := map[bool]string{true: "MAX", false: "MIN"}[down]
	err = tx.row(ctx, "how far a page of postings looks", `SELECT COALESCE(`+nearest+`(entry), 0) FROM (`+
		strings.Join(branches, ` UNION ALL `)+`) b`, b.args, &entry)
	return entry, err
}

// lineBuilder writes queries of postings and gathers their arguments.
type lineBuilder struct {
	postgres  bool
	down      bool
	low, high string // expressions of the entries that are read
	begin     string // a condition: which postings of the first entry are read
	args      []any
}

// side is one side of one account: the postings that have it, and the order of an index of theirs.
type side struct{ where, order string }

func (tx *Tx) lineBuilder(q LineQuery, from int64, down bool) *lineBuilder {
	b := &lineBuilder{postgres: tx.postgres, down: down, low: `CAST(0 AS BIGINT)`, high: `9223372036854775807`}
	entry := `CAST(` + b.arg(from/placesPerEntry) + ` AS BIGINT)`
	// A sum, which no index has: of the first entry alone, PostgreSQL would look for its places in the primary key too,
	// and read all of that.
	line := `entry * ` + strconv.Itoa(placesPerEntry) + ` + place`
	if down {
		b.high, b.begin = entry, ` AND `+line+` < `+b.arg(from)
	} else {
		b.low, b.begin = entry, ` AND `+line+` > `+b.arg(from)
	}
	if !q.Since.IsZero() {
		b.raise(`COALESCE((SELECT number FROM entries WHERE at < ` + b.arg(micros(q.Since.Add(-clocksApart))) +
			` ORDER BY at DESC LIMIT 1) + 1, 0)`)
	}
	if !q.Until.IsZero() {
		b.lower(`COALESCE((SELECT number FROM entries WHERE at >= ` + b.arg(micros(q.Until.Add(clocksApart))) +
			` ORDER BY at LIMIT 1) - 1, 9223372036854775807)`)
	}
	switch {
	case q.edge > 0 && down:
		b.raise(`CAST(` + b.arg(q.edge) + ` AS BIGINT)`)
	case q.edge > 0:
		b.lower(`CAST(` + b.arg(q.edge) + ` AS BIGINT)`)
	}
	return b
}

// raise and lower narrow the entries that are read.
func (b *lineBuilder) raise(to string) {
	b.low = map[bool]string{true: `GREATEST(`, false: `MAX(`}[b.postgres] + b.low + `, ` + to + `)`
}

func (b *lineBuilder) lower(to string) {
	b.high = map[bool]string{true: `LEAST(`, false: `MIN(`}[b.postgres] + b.high + `, ` + to + `)`
}

// sides returns what is read by an index each. PostgreSQL compares and orders rows, so that no other index can serve it
// than that of the side: by the order of the entries alone it would take the primary key, and pass over the postings of
// everybody else. Of several bounds of rows it begins at the first and not at the nearest, so there is one of each
// kind.
func (b *lineBuilder) sides(q LineQuery) (list []side) {
	for _, account := range q.Accounts {
		arg := b.arg(string(account))
		for _, column := range []string{"debit", "credit"} {
			of := side{fmt.Sprintf(`%s = %s AND entry >= %s AND entry <= %s`, column, arg, b.low, b.high) + b.begin,
				`entry` + b.direction()}
			if b.postgres {
				of = side{fmt.Sprintf(`(%s, entry) >= (%s, %s) AND (%s, entry) <= (%s, %s)`, column, arg, b.low, column, arg,
					b.high) + b.begin, column + b.direction() + `, entry` + b.direction()}
			}
			list = append(list, of)
		}
	}
	if len(q.Accounts) == 0 {
		list = []side{{fmt.Sprintf(`entry >= %s AND entry <= %s`, b.low, b.high) + b.begin, `entry` + b.direction()}}
	}
	return list
}

// entries joins what is known of the entry of each posting p. PostgreSQL looks each up by its number: joined in another
// way, all entries that are newer than the page would be read.
func (b *lineBuilder) entries() string {
	if b.postgres {
		return `CROSS JOIN LATERAL (SELECT kind, ref, at FROM entries WHERE number = p.entry LIMIT 1 OFFSET 0) e`
	}
	return `JOIN entries e ON e.number = p.entry`
}

func (b *lineBuilder) arg(v any) string {
	b.args = append(b.args, v)
	return fmt.Sprintf("$%d", len(b.args))
}

func (b *lineBuilder) direction() string {
	if b.down {
		return " DESC"
	}
	return ""
}

// condition is what is checked of each posting. With an offset the look at its entry stays one, for the same reason.
func (b *lineBuilder) condition(q LineQuery) (text string) {
	if q.Asset != "" {
		text += ` AND asset = ` + b.arg(string(q.Asset))
	}
	var of []string
	if q.Kind != "" {
		of = append(of, `kind = `+b.arg(string(q.Kind)))
	}
	if !q.Since.IsZero() {
		of = append(of, `at >= `+b.arg(micros(q.Since)))
	}
	if !q.Until.IsZero() {
		of = append(of, `at < `+b.arg(micros(q.Until)))
	}
	if of != nil {
		text += ` AND EXISTS (SELECT 1 FROM entries WHERE number = entry AND ` + strings.Join(of, ` AND `) +
			` LIMIT 1 OFFSET 0)`
	}
	return text
}
