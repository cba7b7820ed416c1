package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
)

// newFile makes a database file with the connection that will empty it: a session of its own that checks no keys and
// has the rows that migrations write in temporary tables.
func newFile(t testing.TB) (*reusable, error) {
	image, err := migratedFile()
	if err != nil {
		return nil, err
	}
	dir, err := folder(need)
	if err != nil {
		return nil, err
	}
	u := &reusable{spare: &store.Spare{}, drop: func() { os.RemoveAll(dir) }}
	file := dir + "/bursar.db"
	u.url = "sqlite:" + file
	if err := os.WriteFile(file, image, 0o600); err != nil {
		return nil, err
	}
	if u.raw, err = sql.Open("sqlite", file); err != nil {
		return nil, err
	}
	u.raw.SetMaxOpenConns(1)
	e, err := newFileEmptier(u.raw, file)
	u.empty = func(*reusable) error { return e.empty() }
	return u, err
}

// fileEmptier gives a database file the content of the migrated one.
type fileEmptier struct {
	raw    *sql.DB
	path   string
	file   os.FileInfo
	schema int
	tables []string
	filled *sql.Stmt // returns a digit for each table: 1 if it has rows

	refilled []*refilled // in the order of tables
}

// refilled is what is done with a table, in statements of the one connection.
type refilled struct{ remove, fill *sql.Stmt }

func newFileEmptier(raw *sql.DB, path string) (*fileEmptier, error) {
	e := &fileEmptier{raw: raw, path: path}
	var err error
	if e.file, err = os.Stat(path); err != nil {
		return nil, err
	}
	var names string
	if err := raw.QueryRow(`SELECT group_concat(name, ' ') FROM sqlite_master WHERE type = 'table'
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'`).Scan(&names); err != nil {
		return nil, err
	}
	e.tables = strings.Fields(names)
	if err := raw.QueryRow("PRAGMA schema_version").Scan(&e.schema); err != nil {
		return nil, err
	}
	return e, e.prepare()
}

func (e *fileEmptier) prepare() (err error) {
	var filled []string
	for _, table := range e.tables {
		filled = append(filled, "EXISTS (SELECT 1 FROM "+table+")")
		if _, err := e.raw.Exec("CREATE TEMP TABLE first_" + table + " AS SELECT * FROM main." + table); err != nil {
			return err
		}
	}
	if e.filled, err = e.raw.Prepare("SELECT " + strings.Join(filled, " || ")); err != nil {
		return err
	}
	for _, table := range e.tables {
		r := &refilled{}
		if r.remove, err = e.raw.Prepare("DELETE FROM " + table); err != nil {
			return err
		}
		if r.fill, err = e.raw.Prepare("INSERT INTO main." + table + " SELECT * FROM first_" + table); err != nil {
			return err
		}
		e.refilled = append(e.refilled, r)
	}
	return nil
}

func (e *fileEmptier) empty() error {
	var schema int
	now, err := os.Stat(e.path)
	if err != nil || !os.SameFile(now, e.file) {
		return errChanged
	}
	if err := e.raw.QueryRow("PRAGMA schema_version").Scan(&schema); err != nil || schema != e.schema {
		return errChanged
	}
	if _, err := e.raw.Exec("BEGIN IMMEDIATE"); err != nil {
		return errChanged // a transaction that the test has left open writes
	}
	if err := e.rewrite(); err != nil {
		_, undone := e.raw.Exec("ROLLBACK")
		return errors.Join(fmt.Errorf("empty a database for the next test: %w", err), undone)
	}
	_, err = e.raw.Exec("COMMIT")
	return err
}

// rewrite deletes the rows of the test and inserts those that migrations write.
func (e *fileEmptier) rewrite() error {
	var filled string
	if err := e.filled.QueryRow().Scan(&filled); err != nil {
		return err
	}
	for i, table := range e.refilled {
		if filled[i] == '0' {
			continue
		}
		if _, err := table.remove.Exec(); err != nil {
			return err
		}
	}
	for _, table := range e.refilled {
		if _, err := table.fill.Exec(); err != nil {
			return err
		}
	}
	return nil
}
