package e2e

import (
	"flag"
	"testing"
	"time"

	"github.com/bursar/bursar/store/storetest"
)

// TestMain runs three tests at once, whatever the number of cores: most of their time they wait for blocks.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "3"); err != nil {
		panic(err)
	}
	storetest.Main(m, removeBuilt)
}

// TestSandbox runs the whole, from outside, in every currency and on both databases: deposits, charges, transfers,
// reorgs, nodes that fail, a receiver that fails, a process that is killed, and withdrawals; at the end the books
// agree with every chain to the unit.
func TestSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	p := build(t)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		runScenarios(newHarness(t, p, "", ""))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		runScenarios(newHarness(t, p, storetest.ServicePostgres(t), ""))
	})
	t.Run("providers", func(t *testing.T) {
		t.Parallel()
		runProviders(newHarnessOf(t, &harness{t: t, programs: p, dir: storetest.Folder(t), endpoints: 2}))
	})
}

func runScenarios(w *harness) {
	for _, scene := range []struct {
		name string
		run  func()
	}{
		{"receive", w.receive}, {"built-in receiver", w.builtInReceiver}, {"below minimum", w.belowMinimum},
		{"fits no wallet", w.misdirected}, {"charges", w.charges}, {"charges that add up", w.sums},
		{"internal transfers", w.internal}, {"refused withdrawals", w.unmovable}, {"reorgs", w.reorgBlocks},
		{"reversals that come back", w.reverseAndRestore},
		{"reversals that stay", w.reverseForGood}, {"faults", w.faults}, {"withdrawals", w.withdraw},
		{"killed in a burst", w.killedInBurst},
		{"killed while withdrawing", w.killedWhileOrdering}, {"late charges", w.lateCharges},
		{"late charges that add up", w.paySumsLate},
		{"stopped and started", w.endAndStart}, {"audit", w.audit},
	} {
		began := time.Now()
		scene.run()
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

// endAndStart stops the process in an orderly way, with everything that is still in progress, and starts the next
// one.
func (w *harness) endAndStart() {
	w.endCleanly()
	w.restart()
}
