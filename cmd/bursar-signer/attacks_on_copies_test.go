package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/bursar/bursar/signer"
)

// fails runs the signer's process, which must end by itself and say something.
func (c *lyingService) fails(want string) {
	c.t.Helper()
	p := exec.CommandContext(c.t.Context(), program)
	p.Dir, p.Env = c.folder, append([]string{"HOME=" + c.folder}, c.env...)
	if says, err := p.CombinedOutput(); err == nil || !strings.Contains(string(says), want) {
		c.t.Errorf("the start: %v, %s, want an error with %q", err, says, want)
	}
}

// TestAnOlderCopyIsRefusedWithoutTheService puts an older copy of the state back while the service, which alone has
// seen the newest entry of the log, is in the same hands and does not say so. With a counter in the TPM the signer
// notices it by itself, does not start, and is frozen; the way out is a person's, and the windows count as used up.
func TestAnOlderCopyIsRefusedWithoutTheService(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	c.stop(syscall.SIGTERM)
	socket, kill := c.emulator()
	measure(t, socket) // it is there
	c.write("bursar.yaml", strings.Replace(limits, "lock_memory: preferred",
		"lock_memory: preferred, tpm: tpm, counter: tpm",
		1))
	c.fails("bound to no counter, which signer.counter demands")
	if _, says, code := c.run("bind", "--seen", "1000", "--reason", "an older copy"); code != 1 ||
		!strings.Contains(says, "and 1000 was seen: the state is an older copy") {
		t.Errorf("an older copy is bound with %d: %s, want 1", code, says)
	}
	c.says("is bound to the counter tpm:0x01", "bind", "--seen", "1", "--reason", "a test")
	if _, says, code := c.run("bind", "--seen", "1", "--reason", "again"); code != 1 || !strings.Contains(says,
		"is bound to a counter already") {
		t.Errorf("bound twice it exits with %d: %s, want 1", code, says)
	}
	c.start()
	c.want("a payment", c.takes(30), "")
	older := c.copied()
	c.want("a payment that the older copy lacks", c.takes(60), "")
	c.stop(syscall.SIGKILL)
	c.start()
	c.want("after a kill, its limit", c.takes(20), signer.ReasonQuota)
	c.stop(syscall.SIGKILL)

	c.put(older)
	c.fails("older than the counter that it is bound to")
	c.fails("older than the counter that it is bound to")
	c.says("older than the counter", "status") // the freeze names the reason
	if _, says, code := c.run("begin-again", "--reason", "the disk was restored"); code != 0 {
		t.Fatalf("begin-again exits with %d: %s, want 0", code, says)
	}
	c.start()
	c.want("begun again, before the thaw", c.takes(1), signer.ReasonFrozen)
	c.thaw()
	c.want("begun again, its limit", c.takes(1), signer.ReasonQuota)
	c.stop(syscall.SIGTERM)

	kill()
	c.fails("bound to another counter than there is here")
	c.says("The counter of the state is not raised", "status")
	if _, says, code := c.run("begin-again", "--reason", "the TPM is gone"); code != 1 ||
		!strings.Contains(says, "--without-counter binds the state to none") {
		t.Errorf("begin-again without the TPM exits with %d: %s, want 1", code, says)
	}
	c.write("bursar.yaml", limits)
	if _, says, code := c.run("begin-again", "--unused", "--without-counter", "--reason", "the TPM is gone"); code != 0 {
		t.Fatalf("begin-again --without-counter exits with %d: %s, want 0", code, says)
	}
	c.start()
	c.want("bound to none, what the limit has left", c.takes(60), "")
}
