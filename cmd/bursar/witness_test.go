package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer/proof"
)

// A witness on another machine follows the log of a signer, month by month, and cosigns no second history of it.
func TestAWitnessFollowsTheSignersLog(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	d.ok("signer", "init", "--unused")
	in := func(name string) string { return filepath.Join(d.dir, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	key := strings.TrimSpace(d.ok("audit", "witness", "new", in("witness.key"), "--name", "witness.example.com"))
	d.fails(exitFailed, "file exists", "audit", "witness", "new", in("witness.key"), "--name", "again")
	d.fails(exitUsage, "neither spaces nor +", "audit", "witness", "new", in("other"), "--name", "a b")
	asks := func(since string) (request, logKey string) {
		o := d.run("", "audit", "checkpoint", "--since", since)
		_, logKey, _ = strings.Cut(strings.TrimSpace(o.err), "The key is ")
		return write("request", o.out), logKey
	}
	request, logKey := asks("0")
	cosign := []string{"audit", "witness", "cosign", request, "--key-file", in("witness.key"), "--seen", in("seen"),
		"--log-key", logKey}
	october := write("october", d.ok(cosign...))
	older, err := os.ReadFile(in("seed.age.state"))
	if err != nil {
		t.Fatal(err)
	}
	d.ok("signer", "freeze", "--reason", "a drill")
	if again := d.ok(cosign...); !strings.Contains(again, "witness.example.com") {
		t.Errorf("the same request again, as its answer was lost: got %q, want it cosigned", again)
	}
	asks("0")
	d.fails(exitFailed, "ask with --since 1, not 0", cosign...)
	asks("1")
	november := write("november", d.ok(cosign...))
	verify := []string{"audit", "verify", november, "--key", logKey, "--witness", key}
	if said := d.ok(verify...); !strings.Contains(said, "the witness cosigned the checkpoint at 20") ||
		!strings.Contains(said, "the 2 of the checkpoint are unchanged") {
		t.Errorf("verify says %q, want both", said)
	}
	plain := write("plain", d.ok("audit", "checkpoint"))
	d.fails(exitFailed, proof.ErrWitness.Error(), "audit", "verify", plain, "--key", logKey, "--witness", key)
	d.ok("audit", "verify", october, "--key", logKey, "--witness", key)

	for _, suffix := range []string{"-wal", "-shm", ".frozen"} {
		if err := os.Remove(in("seed.age.state" + suffix)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	write("seed.age.state", string(older)) // the older copy, which goes on in another way
	d.ok("signer", "begin-again", "--unused", "--reason", "x", "--yes")
	d.ok("signer", "freeze", "--reason", "y")
	asks("2")
	d.fails(exitFailed, proof.ErrForked.Error(), cosign...)
	d.fails(exitFailed, proof.ErrChanged.Error(), verify...)
	asks("0")
	if o := d.run("", append(cosign, "--forget")...); o.code != 0 || !strings.Contains(o.err, "Cosigned 3 entries") {
		t.Errorf("a witness that a person had begin again: %+v, want 3 entries cosigned", o)
	}
	write("seen", "{}")
	d.fails(exitFailed, "which says what was cosigned", cosign...)
}
