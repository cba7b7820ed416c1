package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"hash"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bursar/bursar/store"
)

// record sums up a history event by event: its log, the calls to nodes and the signer, and every row that changed. A
// change in how the service does something may satisfy the judges: a record shows it, and in which event.
type record struct {
	event hash.Hash
	rows  map[string]string // by table and number, after the last event
	sums  []string
}

func newRecord() *record { return &record{event: sha256.New(), rows: map[string]string{}} }

// sum ends an event's part of the record.
func (h *history) sum() {
	if h.record == nil {
		return
	}
	rows, err := rowsOf(h.ctx, h.DB)
	if err != nil {
		h.fail(err)
		return
	}
	for _, line := range changes(h.record.rows, rows) {
		h.log("    %s", line)
	}
	h.record.rows = rows
	h.record.sums = append(h.record.sums, fmt.Sprintf("%x", h.record.event.Sum(nil)[:2]))
	h.record.event.Reset()
}

// changes lists the rows in which two states of a database differ, in an order that depends on them alone.
func changes(before, after map[string]string) (lines []string) {
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if was, there := before[key]; !there {
			lines = append(lines, fmt.Sprintf("%s is new: %s", key, after[key]))
		} else if was != after[key] {
			lines = append(lines, fmt.Sprintf("%s becomes %s", key, after[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, there := after[key]; !there {
			lines = append(lines, key+" is gone")
		}
	}
	return lines
}

// rowsOf reads every table of a database in memory.
func rowsOf(ctx context.Context, db *store.DB) (map[string]string, error) {
	image, err := db.Image(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "image.db")
	if err := os.WriteFile(file, image, 0o600); err != nil {
		return nil, err
	}
	read, err := sql.Open("sqlite", "file:"+file+"?mode=ro&immutable=1")
	if err != nil {
		return nil, err
	}
	defer read.Close()
	all := map[string]string{}
	tables, err := texts(ctx, read, `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
	for _, table := range tables {
		if ofHistory(table[0]) {
			err = errors.Join(err, rowsOfTable(ctx, read, table[0], all))
		}
	}
	return all, err
}

// ofHistory reports whether a table belongs to the history: not SQLite's own, not the copies from which a database is
// rewound, and not that of the migrations, which contains the time of day.
func ofHistory(table string) bool {
	return !strings.HasPrefix(table, "sqlite_") && !strings.HasPrefix(table, "kept_") && table != "goose_db_version"
}

// rowsOfTable adds the rows of a table to all, equal ones with a number.
func rowsOfTable(ctx context.Context, db *sql.DB, table string, all map[string]string) error {
	list, err := texts(ctx, db, `SELECT * FROM `+table)
	for _, row := range list {
		key := table + " " + row[0]
		for n := 2; all[key] != ""; n++ {
			key = fmt.Sprintf("%s %s (%d)", table, row[0], n)
		}
		all[key] = strings.Join(row, " | ")
	}
	return err
}

// texts returns the rows of a query with each value as text.
func texts(ctx context.Context, db *sql.DB, query string) (list [][]string, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(names))
		for i, v := range values {
			if b, is := v.([]byte); is {
				v = fmt.Sprintf("%x", b)
			}
			row[i] = fmt.Sprint(v)
		}
		list = append(list, row)
	}
	return list, rows.Err()
}
