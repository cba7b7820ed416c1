package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"github.com/bursar/bursar/store"
)

// record sums up a history event by event: its log, the calls to nodes and the signer, and every row that changed. A
// change in how the service does something may satisfy the evaluates: a record shows it, and in which event.
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

// migrations is the table that does not belong to the history: it contains the time of day.
const migrations = "goose_db_version"

// rowsOf reads every table of a database in memory. Equal keys get a number.
func rowsOf(ctx context.Context, db *store.DB) (map[string]string, error) {
	all := map[string]string{}
	err := db.EachRow(ctx, func(table string, values []any) {
		if table == migrations {
			return
		}
		row := texts(values)
		key := table + " " + row[0]
		for n := 2; all[key] != ""; n++ {
			key = fmt.Sprintf("%s %s (%d)", table, row[0], n)
		}
		all[key] = strings.Join(row, " | ")
	})
	return all, err
}

// texts returns each value as text.
func texts(values []any) []string {
	row := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case []byte:
			row[i] = hex.EncodeToString(v)
		case string:
			row[i] = v
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	return row
}
