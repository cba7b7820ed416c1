package charge_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// A block that brought a charge many payments is rolled back: the charge changes once, and is read once.
func TestManyPaymentsOfOneBlockLeaveTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		var hashes []string
		for range 4 {
			hashes = append(hashes, r.send(d, "BTC", "BTC", 25_000))
		}
		hashes = append(hashes, r.send(d, "BTC", "BTC", 10)) // too small
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid")
		version := r.view(d).Version
		r.reorg(bursar.Bitcoin, 3, hashes...)
		if v := r.shows(d, "open reversed !"); v.Version != version+1 || v.Received != "0.00000000" {
			t.Errorf("version %d follows %d with %s received, want %d and nothing", v.Version, version, v.Received, version+1)
		}
		r.heardOf("paid", "reversed", "attention")
	})
}
