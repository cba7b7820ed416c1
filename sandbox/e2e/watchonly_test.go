package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

// TestAServiceWithoutASeed receives on a machine that has no seed and reaches no signer: the service issues addresses
// and credits deposits from a file of public keys alone, keeps withdrawals and sweeps waiting, and pays them once it
// has a signer again. The marks move with it in both directions.
func TestAServiceWithoutASeed(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	w := newSeparateService(t, build(t), "", "bitcoin,solana")
	w.blocks("manual")
	w.must(w.server.stop())
	file, away := filepath.Join(w.dir, "watch.json"), storetest.Folder(t)
	w.must(os.WriteFile(file, w.run("seed", "export-watch-only"), 0o600))
	move := func(from, to string) { w.t.Helper(); w.must(os.Rename(from, to)) }
	seed := func(name string) string { return filepath.Join(w.dir, name) }
	move(seed("seed.age.marks"), file+".marks")
	for _, name := range []string{"seed.age", "passphrase"} {
		move(seed(name), filepath.Join(away, name))
	}
	w.environment = []string{"BURSAR_SIGNER_WATCH_ONLY=" + file}
	w.server = w.serveIn(w.environment)
	t.Cleanup(w.server.kill)
	w.ready()
	w.holdsNoSeed()

	var all []receipt
	for _, c := range w.currencies {
		all = append(all, w.bring(c, payment{w.a.wallet(c), "35.5"}, payment{w.a.wallet(c), "22.25"})...)
	}
	w.mine(untilFinal)
	w.credited(all...)
	requests := w.toExternal("6.25", 1)
	w.must(placeAll(requests, func() {}, (*withdrawalRequest).place))
	w.mine(untilFinal)
	for _, o := range requests {
		if got, err := o.look(); err != nil || got.Status == "confirmed" || w.onChain(o.currency, o.address).Sign() != 0 {
			t.Errorf("without a signer the withdrawal of %s is %s (%v), want it to wait", o.code, got.Status, err)
		}
	}
	if out, err := w.try("doctor"); !strings.Contains(string(out)+fmt.Sprint(err), "there is no signer") {
		t.Errorf("the doctor says %s (%v), want that there is no signer", out, err)
	}

	w.must(w.server.stop())
	move(file+".marks", seed("seed.age.marks"))
	for _, name := range []string{"seed.age", "passphrase"} {
		move(filepath.Join(away, name), seed(name))
	}
	w.environment = nil
	w.server = w.serveWith(nil)
	t.Cleanup(w.server.kill)
	w.ready()
	w.blocks("auto")
	w.paid(requests)
	w.settle()
	w.balanced()
	for _, o := range requests {
		w.arrived(o)
	}
}

// holdsNoSeed fails the test if the environment of the service or a file of its folder opens or holds a seed.
func (w *harness) holdsNoSeed() {
	w.t.Helper()
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", w.server.command.Process.Pid))
	w.must(err)
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if bytes.HasPrefix(variable, []byte("BURSAR_PASSPHRASE")) || bytes.HasPrefix(variable, []byte("BURSAR_SEED")) {
			w.t.Errorf("the service's environment has %s, want no secret in it", variable)
		}
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "*"))
	w.must(err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a folder, or a file of a node that has just gone
		}
		if bytes.Contains(text, []byte("age-encryption.org")) {
			w.t.Errorf("%s holds a sealed seed, want none", path)
		}
	}
}
