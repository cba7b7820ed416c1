// Package drill holds the tests of the database's own incidents: copies that are made while the books are written
// to, servers that are killed, hang or have no room, and what is left after each.
//
// It owns how a disk is filled, and how litestream and pgBackRest are set up and run: by docs/operations/backup.md,
// which it reads. It writes to the books as the service does, with what is acknowledged noted; sandbox/e2e runs the
// same with a service. Its invariant: what comes back is whole, holds all that was acknowledged before the moment
// that is promised, and nothing that never was.
package drill
