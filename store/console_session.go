package store

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/bursar/bursar"
)

// ConsoleSession is one sign-in to the console. Only the hash of its cookie is stored.
type ConsoleSession struct {
	ID                   bursar.ID
	Hash                 [sha256.Size]byte
	Person               bursar.ID
	Address, Agent       string
	Created, Used, Ended time.Time
}

var consoleSessionColumns = columnsOf([]column[ConsoleSession]{
	{"id", func(s *ConsoleSession) any { return &s.ID }},
	{"hash", func(s *ConsoleSession) any { return sha{&s.Hash} }},
	{"person_id", func(s *ConsoleSession) any { return &s.Person }},
	{"address", func(s *ConsoleSession) any { return &s.Address }},
	{"agent", func(s *ConsoleSession) any { return &s.Agent }},
	{"created_at", func(s *ConsoleSession) any { return instant{&s.Created} }},
	{"used_at", func(s *ConsoleSession) any { return instant{&s.Used} }},
	{"ended_at", func(s *ConsoleSession) any { return instant{&s.Ended} }},
})

// AddSession adds a session that begins now.
func (tx People) AddSession(ctx context.Context, s ConsoleSession) error {
	query, args := values{
		{"id", s.ID},
		{"hash", s.Hash[:]},
		{"person_id", s.Person},
		{"address", s.Address},
		{"agent", s.Agent},
		{"created_at", micros(tx.now)},
		{"used_at", micros(tx.now)},
	}.insertInto("console_sessions")
	_, err := tx.exec(ctx, "insert session", query, args...)
	return err
}

// Session returns the session of a cookie that was not ended; ErrNotFound for any other.
func (tx People) Session(ctx context.Context, hash [sha256.Size]byte) (ConsoleSession, error) {
	return consoleSessionColumns.one(ctx, tx.Tx, "read session",
		`FROM console_sessions WHERE hash = $1 AND ended_at = 0`, hash[:])
}

// Sessions returns the sessions of a person that began after a time and were not ended, newest first.
func (tx People) Sessions(ctx context.Context, person bursar.ID, since time.Time) ([]ConsoleSession, error) {
	return consoleSessionColumns.rows(ctx, tx.Tx, "list sessions", `FROM console_sessions
		WHERE person_id = $1 AND created_at > $2 AND ended_at = 0 ORDER BY created_at DESC, id LIMIT 100`,
		person, micros(since))
}

// UseSession notes that a session was used now.
func (tx People) UseSession(ctx context.Context, id bursar.ID) error {
	return tx.change(ctx, "use session", `UPDATE console_sessions SET used_at = $2 WHERE id = $1`, id, micros(tx.now))
}

// EndSession ends a session of a person; ErrNotFound where there is none that runs.
func (tx People) EndSession(ctx context.Context, person, id bursar.ID) error {
	return tx.change(ctx, "end session",
		`UPDATE console_sessions SET ended_at = $3 WHERE id = $1 AND person_id = $2 AND ended_at = 0`, id, person,
		micros(tx.now))
}

// EndSessions ends all sessions of a person, and returns how many ran.
func (tx People) EndSessions(ctx context.Context, person bursar.ID) (int64, error) {
	return tx.exec(ctx, "end sessions", `UPDATE console_sessions SET ended_at = $2 WHERE person_id = $1 AND ended_at = 0`,
		person, micros(tx.now))
}
