package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
)

// The state is lost, and with it the keys that were in it: doctor says so, until they are added again.
func TestDoctorFindsLostKeysOfClients(t *testing.T) {
	t.Parallel()
	const check = "keys of clients"
	d := newSeededHarness(t)
	d.ok("signer", "init", "--unused")
	found, _ := d.findings()
	if f, is := found[check]; is {
		t.Errorf("without keys doctor finds %+v, want nothing", f)
	}
	cfg := config.Config{SeedFile: filepath.Join(d.dir, "seed.age")}
	noted := `[{"account":"0193a6a0-0000-7000-8000-000000000000","id":"7d1c0a54e0b16d3c4b7a9f20c5d8e6f1"}]`
	if err := os.WriteFile(host.OrderKeysFile(cfg), []byte(noted), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := memory.Join(t.Context(), filepath.Join(d.dir, "seed.age.state"))
	if err != nil {
		t.Fatal(err)
	}
	err = host.AgreeOrderKeys(t.Context(), cfg, file, slog.New(slog.DiscardHandler)) // as the signer's start does
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	found, _ = d.findings()
	if f := found[check]; f.Result != resultFailed || !strings.Contains(f.Detail, "1") ||
		!strings.Contains(f.Advice, "lost-keys") {
		t.Errorf("with a lost key doctor finds %+v, want that it failed and how to go on", f)
	}
}
