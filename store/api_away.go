package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Away reports whether an error says that the database cannot be used now, rather than that it was asked for something
// wrong: it is not reached, restarts, is out of space or time. The same request may succeed later.
func Away(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	if errors.As(err, &network) || errors.As(err, &connect) || pgconn.SafeToRetry(err) || lostRace(err) {
		return true
	}
	for _, known := range []error{
		driver.ErrBadConn,
		sql.ErrConnDone,
		io.ErrUnexpectedEOF,
		net.ErrClosed,
		context.DeadlineExceeded,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return awayPostgres(err) || awaySQLite(err) || closed(err)
}

// awayPostgres goes by the classes of PostgreSQL's error codes (its manual, appendix A): connection exceptions,
// insufficient resources, operator intervention, system errors, and a server that only reads after a failover.
func awayPostgres(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || len(refused.Code) != 5 {
		return false
	}
	switch refused.Code[:2] {
	case "08", "53", "57", "58":
		return true
	}
	return refused.Code == "25006"
}

func awaySQLite(err error) bool {
	var refused *sqlite.Error
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Code() & 0xff { // the rest is the extended code
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	return false
}

// closed recognises the error of a closed database, which database/sql has no name for.
func closed(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "sql: database is closed")
}
