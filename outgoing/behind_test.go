package outgoing_test

import (
	"path/filepath"
	"testing"
)

// A database that was put back is known to be older from its first moment on, before any service has looked at it; once
// one has, the chain recovers instead.
func TestADatabaseThatWasPutBackIsKnownToBeBehind(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		if why, err := r.guard(file).Behind(ctx); why != "" || err != nil {
			t.Errorf("without marks: %q, %v", why, err)
		}
		r.guarded(file)
		r.prepare()
		if why, err := r.guard(file).Behind(ctx); why != "" || err != nil {
			t.Errorf("while it is current: %q, %v", why, err)
		}
		r.order(300_000_000, r.chain.Named("receiver"))
		before := r.backup()
		r.step() // it is signed, which the backup does not know
		r.restore(before)
		if why, err := r.guard(file).Behind(ctx); why == "" || err != nil || r.recovering() {
			t.Errorf("before anybody has looked: %q, %v, recovering %t", why, err, r.recovering())
		}
		r.guarded(file)
		if why, err := r.guard(file).Behind(ctx); why != "" || err != nil || !r.recovering() {
			t.Errorf("once it is looked at: %q, %v, recovering %t", why, err, r.recovering())
		}
	})
}
