package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/store/storetest"
)

// signerProcess is the real `bursar-signer` beside the service, with the seed of the sandbox's folder.
type signerProcess struct {
	*harness
	program string
	process *server
	opens   []string // what opens the seed file; nil: the passphrase
}

// newSignedService is newSeparateService with a signer that is a process of its own.
func newSignedService(t *testing.T, p programs, database, chains string, environment ...string) *signerProcess {
	program, err := signerBuilt()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(storetest.Folder(t), "s")
	w := newHarnessOf(t, &harness{t: t, programs: p, dir: storetest.Folder(t), database: database, endpoints: 1,
		chains: chains, listen: freePort(t), admin: freePort(t),
		environment: environment})
	w.environment = append(w.environment, "BURSAR_SIGNER_ADDRESS=unix:"+socket) // no signer ran so far
	s := &signerProcess{harness: w, program: program}
	s.begin()
	w.serve()
	w.ready()
	return s
}

// command is one of the signer's commands, on the signer's machine.
func (s *signerProcess) command(args ...string) *exec.Cmd {
	command := exec.Command(s.program, append(args, "--config", filepath.Join(s.dir, "bursar.yaml"))...)
	opens := s.opens
	if opens == nil {
		opens = []string{"BURSAR_PASSPHRASE_FILE=" + filepath.Join(s.dir, "passphrase")}
	}
	command.Env = slices.Concat(os.Environ(), opens, s.environment)
	return command
}

// does runs a command of the signer.
func (s *signerProcess) does(args ...string) {
	s.t.Helper()
	if out, err := s.command(args...).CombinedOutput(); err != nil {
		s.t.Fatalf("bursar-signer %v: %v\n%s", args, err, out)
	}
}

// begin starts the signer, and does not wait for it: the service does.
func (s *signerProcess) begin() {
	s.t.Helper()
	one := &server{command: s.command(), log: &tail{}, ended: make(chan struct{})}
	out, err := one.command.StderrPipe()
	s.must(err)
	s.must(one.command.Start())
	var reading sync.WaitGroup
	reading.Go(func() { one.log.read(out) })
	go func() {
		reading.Wait()
		one.err = one.command.Wait()
		close(one.ended)
	}()
	s.process = one
	s.t.Cleanup(one.kill)
}

// killedAfter runs a command of the signer and kills it, unless it has ended before.
func (s *signerProcess) killedAfter(d time.Duration, args ...string) {
	s.t.Helper()
	command := s.command(args...)
	s.must(command.Start())
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // killed, or not
		close(ended)
	}()
	select {
	case <-time.After(d):
		_ = command.Process.Signal(syscall.SIGKILL) // it may have ended just now
		<-ended
	case <-ended:
	}
}

// said is what the processes logged last.
func (s *signerProcess) said() string {
	return fmt.Sprintf("%s\nthe signer:\n%s", s.harness.said(), s.process.log)
}
