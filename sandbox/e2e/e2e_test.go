package e2e

import (
	"testing"
	"time"

	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m, removeBuilt) }

// The whole, from outside, in every currency and on both databases: deposits, charges, transfers, reorganisations,
// nodes that fail, a receiver that fails, a process that is killed, and withdrawals; and in the end books that equal
// every chain to the unit.
func TestSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("the sandbox as a process is left out by -short")
	}
	p := build(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		play(newHarness(t, p, "", 1))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		play(newHarness(t, p, storetest.Postgres(t), 1))
	})
	t.Run("providers", func(t *testing.T) {
		t.Parallel()
		playProviders(newHarness(t, p, "", 2))
	})
}

func play(w *harness) {
	for _, scene := range []struct {
		name string
		play func()
	}{
		{"receive", w.receive}, {"built-in receiver", w.builtInReceiver}, {"below minimum", w.belowMinimum},
		{"fits no wallet", w.misdirected}, {"charges", w.charges},
		{"internal transfers", w.internal}, {"refused orders", w.unmovable}, {"reorganisations", w.reorganise},
		{"reversals that return", w.reverseAndReturn},
		{"reversals that stay", w.reverseForGood}, {"faults", w.faults}, {"withdrawals", w.withdraw},
		{"killed in a burst", w.killedInBurst},
		{"killed while ordering", w.killedWhileOrdering}, {"late charges", w.lateCharges},
		{"ended and started", w.endAndStart}, {"audit", w.audit},
	} {
		began := time.Now()
		scene.play()
		w.t.Logf("%-22s %v", scene.name, time.Since(began).Round(time.Millisecond))
	}
	w.endCleanly()
}

func (w *harness) endCleanly() {
	w.t.Helper()
	if err := w.sandbox.stop(); err != nil {
		w.t.Fatalf("the sandbox does not end cleanly: %v\n%s", err, w.sandbox.log)
	}
}

// endAndStart ends the process in the orderly way, with everything that is still under way, and goes on with the next
// one.
func (w *harness) endAndStart() {
	w.endCleanly()
	w.restart()
}
