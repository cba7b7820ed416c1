package recovery_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/bursartest"
)

// A database that was restored from a backup is known to be older from the first moment, before any service has looked
// at it; once one has, the chain recovers instead.
func TestARestoredDatabaseIsKnownToBeBehind(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		if why, err := r.Guard(file).Behind(ctx); why != "" || err != nil {
			t.Errorf("without marks: %q, %v, want \"\"", why, err)
		}
		r.Guarded(file)
		r.Prepare()
		if why, err := r.Guard(file).Behind(ctx); why != "" || err != nil {
			t.Errorf("while it is current: %q, %v, want \"\"", why, err)
		}
		r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Step() // it is signed after the backup
		r.Restore(before)
		if why, err := r.Guard(file).Behind(ctx); why == "" || err != nil || r.Recovering() {
			t.Errorf("before anybody has looked: %q, %v, recovering %t", why, err, r.Recovering())
		}
		r.Guarded(file)
		if why, err := r.Guard(file).Behind(ctx); why != "" || err != nil || !r.Recovering() {
			t.Errorf("once it is looked at: %q, %v, recovering %t", why, err, r.Recovering())
		}
	})
}
