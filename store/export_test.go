package store

import "database/sql"

// Raw lets a test ask the database about itself.
func (tx *Tx) Raw() *sql.Tx { return tx.tx.(*sql.Tx) }

// Waiting returns how many look-ups wait for a statement.
func (g *Gather[K, V]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}
