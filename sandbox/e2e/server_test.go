package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/loopback"

	"github.com/bursar/bursar/store/storetest"
)

// server is one run of the real `bursar serve`, a process of its own next to the sandbox's nodes, which outlive it.
type server struct {
	command *exec.Cmd
	log     *tail
	ended   chan struct{} // closed once the process has ended
	err     error         // error of its end
	meant   atomic.Bool   // the test ended it: nothing that waits takes that for a crash
}

// newSeparateService is a harness whose service is a process of its own, with some of the chains, or all if chains is
// empty, and with additions to the environment: it is started, and ready.
func newSeparateService(t *testing.T, p programs, database, chains string, environment ...string) *harness {
	w := newHarnessOf(t,
		&harness{t: t, programs: p, dir: storetest.Folder(t), database: database, endpoints: 1, chains: chains,
			listen: freePort(t), admin: freePort(t),
			environment: environment})
	w.serve()
	w.ready()
	return w
}

// freePort returns a loopback address that no node of the sandbox takes before the service does.
func freePort(t *testing.T) string {
	t.Helper()
	address, err := loopback.Free()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// serve starts the service's process and does not wait for it.
func (w *harness) serve() {
	w.t.Helper()
	w.server = w.serveWith(w.environment)
	w.t.Cleanup(w.server.kill)
}

// serveWith starts a process of the service with additions to the environment.
func (w *harness) serveWith(environment []string) *server {
	w.t.Helper()
	return w.serveIn(append([]string{"BURSAR_PASSPHRASE_FILE=" + filepath.Join(w.dir, "passphrase")}, environment...))
}

// serveIn is serveWith without the passphrase.
func (w *harness) serveIn(environment []string) *server {
	w.t.Helper()
	command := exec.Command(w.programs.bursar, "serve", "--config", filepath.Join(w.dir, "bursar.yaml"))
	command.Env = append(os.Environ(), environment...)
	s := &server{command: command, log: &tail{}, ended: make(chan struct{})}
	out, err := command.StderrPipe()
	w.must(err)
	w.must(command.Start())
	var reading sync.WaitGroup
	reading.Go(func() { s.log.read(out) })
	go func() {
		reading.Wait()
		s.err = command.Wait()
		close(s.ended)
	}()
	return s
}

// kill kills the process, as a power cut would, and waits until it has ended.
func (s *server) kill() {
	s.meant.Store(true)
	_ = s.command.Process.Kill() // it may have ended already
	<-s.ended
}

// stop asks the process to end and reports whether it ended cleanly.
func (s *server) stop() error {
	s.meant.Store(true)
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.ended:
		return s.err
	case <-time.After(patience):
		return fmt.Errorf("the service still runs %v after SIGTERM\n%s", patience, s.log)
	}
}

// ready waits until the service reports that it is ready.
func (w *harness) ready() {
	w.t.Helper()
	w.eventually("the service is ready", func() error {
		answer, err := httpClient.Get(w.sandbox.API + "/readyz")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(answer.Body)
			return fmt.Errorf("%d %s", answer.StatusCode, text)
		}
		return nil
	})
}
