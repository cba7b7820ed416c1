// Package drill tests the database's own incidents: copies that are made while the books are written to, servers that
// are killed, hang or have no disk space, and what is left after each.
//
// It owns how a disk is filled, and how litestream and pgBackRest are set up and run: by docs/operations/backup.md,
// which it reads. It writes to the books as the service does and records what is acknowledged; sandbox/e2e runs the
// same with a service. Its invariant: what is restored is whole, holds everything that was acknowledged before the
// promised point in time, and nothing that never existed.
package drill
