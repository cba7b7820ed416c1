// Package drill holds the tests of the database's own incidents: copies that are made while the books are written to, servers
// that are killed, hang or have no room, and what is left after each.
//
// It owns how a disk is filled. It writes to the books as the service does, with what is acknowledged noted, and uses
// the tools that an operator would, as docs/operations/backup.md says. Its invariant: what comes back is whole, holds all that
// was acknowledged before the moment that is promised, and nothing that never was.
package drill
