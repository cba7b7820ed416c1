package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/config"
)

// The documented unit is one that systemd understands: an unknown setting would be passed over in silence.
func TestTheUnitIsValid(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	text, err := os.ReadFile("../../docs/operations/bursar-signer.service")
	if err != nil {
		t.Fatal(err)
	}
	const installed = "/usr/local/bin/bursar-signer"
	if strings.Count(string(text), installed) != 1 {
		t.Fatalf("the unit does not run %s", installed)
	}
	unit := filepath.Join(t.TempDir(), "bursar-signer.service")
	if err := os.WriteFile(unit, []byte(strings.Replace(string(text), installed, program, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), analyze, "verify", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze says %v: %s, want none", err, out)
	}
	for _, want := range []string{"NoNewPrivileges=yes", "ProtectSystem=strict", "PrivateNetwork=yes",
		"MemoryDenyWriteExecute=yes",
		"LimitCORE=0", "LimitMEMLOCK=infinity", "LoadCredential=bursar-passphrase:", "RestrictAddressFamilies=AF_UNIX",
		"SystemCallFilter=@system-service"} {
		if !strings.Contains(string(text), "\n"+want) {
			t.Errorf("the unit lacks %s, want %v in it", want, "\n"+want)
		}
	}
}

// The documented policy is accepted, and leaves nothing of its chains without a limit that it names a currency for.
func TestTheExampleOfAPolicyIsValid(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load("../../docs/operations/signer.example.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Network != config.Mainnet || !cfg.Signer.Remote() || cfg.Signer.LockMemory != config.LockRequired {
		t.Errorf("the signer is %+v on %s", cfg.Signer, cfg.Network)
	}
	for _, currency := range cfg.Unlimited() {
		if !currency.IsToken() {
			t.Errorf("%s has no limit", currency.Code)
		}
	}
}
