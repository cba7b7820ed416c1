package store

import "context"

// Ask lets a test ask the database about itself.
func (tx *Tx) Ask(ctx context.Context, dest any, query string, args ...any) error {
	return tx.row(ctx, "ask", query, args, dest)
}

// Run lets a test run a statement of its own.
func (tx *Tx) Run(ctx context.Context, query string, args ...any) error {
	_, err := tx.exec(ctx, "run", query, args...)
	return err
}

// Later lets a test have a statement run whose result nobody waits for.
func (tx *Tx) Later(ctx context.Context, what, query string, args ...any) error {
	return tx.later(ctx, deferred{what: what, query: query, args: args})
}

// Waiting returns how many look-ups wait for a statement.
func (g *Gather[K, V]) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.queue)
}
