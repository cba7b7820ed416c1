package main

import (
	"crypto/ed25519"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/proof"
)

// TestTheSignerHoldsWhatAWitnessCosigned puts an older copy of the state back, from before what somebody elsewhere
// cosigned, with a service that does not say so: the signer does not start, and is frozen, until a person has begun
// again and the witness too.
func TestTheSignerHoldsWhatAWitnessCosigned(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	public, private, err := ed25519.GenerateKey(nil)
	c.must(err)
	witness := proof.Witness{Name: "witness.example.com", Private: private}
	var seen proof.Seen
	cosign := func() {
		t.Helper()
		request, says, code := c.run("audit", "checkpoint", "--since", fmt.Sprint(seen.Size))
		if code != 0 {
			t.Fatalf("checkpoint exits with %d: %s, want 0", code, says)
		}
		_, witness.LogKey, _ = strings.Cut(strings.TrimSpace(says), "The key is ")
		next, signed, err := witness.Evaluate(request, seen, time.Now())
		c.must(err)
		both, err := witness.Cosign(signed, next)
		c.must(err)
		seen = next
		c.write("witnessed", both)
	}
	older := c.copied()
	c.want("a payment that the older copy lacks", c.takes(60), "")
	cosign()
	c.stop(syscall.SIGTERM)
	key := proof.WitnessKey("witness.example.com", public)
	c.write("bursar.yaml", strings.Replace(limits, "lock_memory: preferred",
		"lock_memory: preferred, witnessed: witnessed, "+
			"witness: '"+key+"'", 1))
	c.start()
	c.want("with its log, beyond the limit", c.takes(41), signer.ReasonQuota)
	c.stop(syscall.SIGTERM)

	c.put(older)
	c.fails("it does not contain what the checkpoint says")
	c.says("an older copy of the state was put back", "status")
	c.write("witnessed", "")
	c.fails("check what the witness cosigned")
	seen = proof.Seen{} // as with --forget
	if _, says, code := c.run("begin-again", "--reason", "the disk was restored"); code != 0 {
		t.Fatalf("begin-again exits with %d: %s, want 0", code, says)
	}
	cosign()
	c.start()
	c.want("begun again, before the thaw", c.takes(1), signer.ReasonFrozen)
}
