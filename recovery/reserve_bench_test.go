package recovery_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store/storetest"
)

// BenchmarkWallets makes wallets from 16 callers, without and with marks outside the database.
func BenchmarkWallets(b *testing.B) {
	for _, marked := range []bool{false, true} {
		name := "without marks"
		if marked {
			name = "with marks"
		}
		b.Run(name, func(b *testing.B) {
			r := bursartest.NewOneChain(b, storetest.Open(b, storetest.SQLite(b)), bursartest.Models["nonce"])
			if marked {
				g := r.Guarded(filepath.Join(b.TempDir(), "seed.marks"))
				go g.Run(b.Context())
			}
			var group sync.WaitGroup
			b.ResetTimer()
			for i := range 16 {
				group.Go(func() {
					for range b.N/16 + min(1, b.N%16/(i+1)) {
						r.Wallet(0)
					}
				})
			}
			group.Wait()
		})
	}
}
