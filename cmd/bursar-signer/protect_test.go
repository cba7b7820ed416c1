//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/signer"
)

// nobody is the user as which a test that has all rights runs what must have none.
const nobody = 65534

// serving is a signer that listens.
type serving struct {
	*harness
	process *exec.Cmd
	words   string // of its seed
	says    string // up to where it listens
}

// serve starts a signer until the test ends. Without rights it is one that a test of any user may start.
func (b *harness) serve(rights bool) *serving {
	b.Helper()
	words, says, code := b.run("seed", "new")
	if code != 0 {
		b.Fatalf("seed new exits with %d: %s, want 0", code, says)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	c := exec.CommandContext(ctx, program)
	c.Dir, c.Env = b.folder, append([]string{"HOME=" + b.folder}, b.env...)
	c.Env = append(c.Env, "BURSAR_SIGNER_ADDRESS=unix:"+filepath.Join(b.folder, "s"))
	if !rights {
		c.SysProcAttr = b.nobodys()
	}
	log, err := c.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	s := &serving{harness: b, process: c, words: strings.TrimSpace(words)}
	b.Cleanup(func() {
		defer cancel()
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			b.Error(err)
		}
		_, _ = io.Copy(io.Discard, log) // to its end
		if err := c.Wait(); err != nil {
			b.Errorf("it ended with %v", err)
		}
	})
	for lines := bufio.NewScanner(log); lines.Scan(); {
		s.says += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "signer listening") {
			return s
		}
	}
	b.Fatalf("it says %s", s.says)
	return nil
}

// nobodys gives the folder to a user without rights, and returns what runs a process as that user; nil where the test
// has no rights itself.
func (b *harness) nobodys() *syscall.SysProcAttr {
	b.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(b.folder, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range append(files, b.folder) {
		if err := os.Chown(path, nobody, nobody); err != nil {
			b.Fatal(err)
		}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// proc returns a file of the system about the process.
func (s *serving) proc(name string) string {
	s.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.process.Process.Pid), name))
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// The pages of a signer are locked, as it uses them, where it may lock them; and it leaves no core.
func TestTheSignersMemoryIsLocked(t *testing.T) {
	t.Parallel()
	var limit syscall.Rlimit
	const memlock = 8 // RLIMIT_MEMLOCK of linux/resource.h
	if err := syscall.Getrlimit(memlock, &limit); err != nil || os.Getuid() != 0 && limit.Cur != ^uint64(0) {
		t.Skip("the limit of locked memory does not allow it: `ulimit -l unlimited`")
	}
	s := newHarness(t, "signer: {lock_memory: required}").serve(true)
	locked := regexp.MustCompile(`VmLck:\s+(\d+) kB`).FindStringSubmatch(s.proc("status"))
	if locked == nil {
		t.Fatal("the status has no VmLck")
	}
	if n, err := strconv.Atoi(locked[1]); err != nil || n < 10_000 {
		t.Errorf("%s kB are locked, want at least 10_000", locked[1])
	}
	if used := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindStringSubmatch(s.proc("status")); len(used[1]) > 6 {
		t.Errorf("%s kB are in memory: locking fills what is only reserved", used[1])
	}
	if !regexp.MustCompile(`Max core file size\s+0\s+0\s`).MatchString(s.proc("limits")) {
		t.Errorf("the limits are\n%s", s.proc("limits"))
	}
}

// A process of the same user can neither read the memory of the signer nor its environment.
func TestTheSameUserCannotReadTheSigner(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	s := b.serve(false)
	other := exec.CommandContext(t.Context(), "sleep", "60")
	other.SysProcAttr = b.nobodys()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := other.Process.Kill(); err == nil {
			_ = other.Wait()
		}
	}()
	for _, name := range []string{"mem", "environ", "maps"} {
		read := func(pid int) error {
			head := exec.CommandContext(t.Context(), "dd", "count=0", "status=none",
				"if="+filepath.Join("/proc", strconv.Itoa(pid), name))
			head.SysProcAttr = b.nobodys()
			return head.Run()
		}
		if err := read(other.Process.Pid); err != nil {
			t.Errorf("%s of another process cannot be read: %v; the test proves nothing", name, err)
		}
		if read(s.process.Process.Pid) == nil {
			t.Errorf("%s of the signer can be read", name)
		}
	}
}

// Neither the passphrase nor the words of the seed are anywhere in the memory of a signer that runs, in any copy; nor
// is the seed that the words stand for. What it derives keys from stays: that is how it signs.
func TestTheRunningSignerHasNeitherPassphraseNorWords(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only a privileged user can read the memory of a signer")
	}
	s := newHarness(t).serve(true)
	mnemonic, err := signer.ParseMnemonic(s.words)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := mnemonic.Seed("")
	if err != nil {
		t.Fatal(err)
	}
	count := s.inMemory(map[string]string{"passphrase": passphrase, "words": s.words[:40], "seed": string(seed[:32]),
		"the rest of the seed": string(seed[32:]), "fingerprint": fingerprint(s.says)})
	if count["fingerprint"] == 0 {
		t.Error("the fingerprint is not found: the search finds nothing")
	}
	delete(count, "fingerprint")
	for name, n := range count {
		t.Errorf("%s: %d copies", name, n)
	}
}

// fingerprint returns that of the seed, from a signer's log.
func fingerprint(log string) string {
	_, after, _ := strings.Cut(log, "fingerprint=")
	return after[:32]
}

// inMemory counts texts in all memory that the process may write to.
func (s *serving) inMemory(texts map[string]string) map[string]int {
	s.Helper()
	mem, err := os.Open(filepath.Join("/proc", strconv.Itoa(s.process.Process.Pid), "mem"))
	if err != nil {
		s.Fatal(err)
	}
	defer mem.Close()
	count := map[string]int{}
	for line := range strings.Lines(s.proc("maps")) {
		var from, to uint64
		var mode string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil {
			s.Fatalf("%s: %v", line, err)
		}
		if !strings.HasPrefix(mode, "rw") {
			continue
		}
		content := make([]byte, to-from)
		n, err := mem.ReadAt(content, int64(from))
		if err != nil && n == 0 && !strings.Contains(line, "[v") {
			s.Fatalf("%s: %v", line, err)
		}
		for name, text := range texts {
			if found := bytes.Count(content[:n], []byte(text)); found > 0 {
				count[name] += found
			}
		}
	}
	return count
}

// Where memory cannot be locked, a signer on mainnet does not start, and says what to set.
func TestUnlockedMemoryIsRefusedOnMainnet(t *testing.T) {
	t.Parallel()
	for _, required := range []string{"BURSAR_SIGNER_LOCK_MEMORY=required", "BURSAR_NETWORK=mainnet"} {
		b := newHarness(t, "signer: {address: 'unix:s'}")
		limited := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -l 64; exec "+program)
		limited.Dir, limited.Env, limited.SysProcAttr = b.folder, append(b.env, required), b.nobodys()
		out, err := limited.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "set LimitMEMLOCK=infinity") ||
			!strings.Contains(string(out), "signer.lock_memory: preferred") {
			t.Errorf("with %s it ends with %v and says %s, want an error and %q in it and %q in it", required, err, out,
				"set LimitMEMLOCK=infinity", "signer.lock_memory: preferred")
		}
	}
}
