package store

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// SQLite has no queue for its write lock: a process that finds it taken looks again after a while, which grows to
// patientPoll (sqlite3, main.c, sqliteDefaultBusyCallback). Where a service writes without a pause, the lock is free
// for so short a time that another process may find it taken for many seconds.
const (
	patientPoll = 100 * time.Millisecond
	yieldEvery  = time.Second
	yieldFor    = patientPoll + 20*time.Millisecond // so that a process that waits looks at least once meanwhile
	freeEnough  = yieldEvery / 4                    // for a process that looks a few times
)

// yield leaves the write lock of a SQLite file to litestream for a moment, once in yieldEvery, while the service writes
// all the time and litestream keeps the log from beginning again: it copies nothing while it waits for the lock, and
// the log grows until it gets it (litestream 0.5.18, db.go, checkpointWithExecutor). Without litestream nothing is
// left unused. It belongs to the one connection that writes.
type yield struct {
	log  string // the write-ahead log's file
	now  func() time.Time
	wait func(ctx context.Context, d time.Duration) bool

	ended time.Time     // of the last transaction
	since time.Time     // of what is counted
	free  time.Duration // in which the lock was free
	start int64         // which beginning of the log it was
}

// writesTo is the yield of the connection that writes to a file. SQLite names the log after what a link leads to.
func writesTo(file string) *yield {
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved
	}
	return &yield{log: file + "-wal", now: time.Now, wait: sleepFor}
}

// before is called before a transaction begins.
func (y *yield) before(ctx context.Context, conn driver.QueryerContext) {
	now := y.now()
	y.free += now.Sub(y.ended)
	y.ended = now // also if it cannot begin
	if now.Sub(y.since) < yieldEvery {
		return
	}
	held := y.start != noLog && y.start == y.beginning()
	if held && y.free < freeEnough && replicated(ctx, conn) {
		y.wait(ctx, yieldFor)
	}
	y.since, y.free, y.start = y.now(), 0, y.beginning()
}

// after is called when a transaction has ended.
func (y *yield) after() { y.ended = y.now() }

// noLog is the beginning of a log that is not there or empty.
const noLog = -1

// beginning numbers the beginnings of the log, whose length says nothing: the file stays as long as it ever was
// (sqlite.org, fileformat2, the WAL header: the checkpoint sequence number at byte 12).
func (y *yield) beginning() int64 {
	file, err := os.Open(y.log)
	if err != nil {
		return noLog
	}
	defer file.Close() // drops no lock of ours: SQLite has none on this file
	var header [16]byte
	if _, err := io.ReadFull(file, header[:]); err != nil {
		return noLog
	}
	return int64(binary.BigEndian.Uint32(header[12:]))
}

// replicated reports whether litestream has made its tables in the database.
func replicated(ctx context.Context, conn driver.QueryerContext) bool {
	rows, err := conn.QueryContext(ctx, `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_litestream_lock'`,
		nil)
	if err != nil {
		return false // whatever comes next in the transaction meets the same
	}
	err = rows.Next(make([]driver.Value, 1))
	return errors.Join(err, rows.Close()) == nil
}

// yieldingTx is a transaction whose end is noted.
type yieldingTx struct {
	driver.Tx
	yield *yield
}

func (t yieldingTx) Commit() error {
	defer t.yield.after()
	return t.Tx.Commit()
}

func (t yieldingTx) Rollback() error {
	defer t.yield.after()
	return t.Tx.Rollback()
}
