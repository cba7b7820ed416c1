package patroni

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bursar/bursar/sandbox/loopback"
)

// Server is one PostgreSQL server without Patroni, as durable as a new installation: fsync is on.
type Server struct {
	Dir     string // belongs to the user that PostgreSQL runs as; Data is in it
	Data    string
	Address string
	bin     string
	config  map[string]string
	process *process
	network *proxy
}

// NewServer creates a cluster with an empty database named bursar in a directory of its own, and runs it. Settings
// are those of postgresql.conf; DIR in them is the server's directory.
func NewServer(ctx context.Context, settings map[string]string) (*Server, error) {
	_, bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	dir, err := workFolder()
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, Data: filepath.Join(dir, "server.data"), bin: bin, config: settings}
	if s.Address, err = loopback.Free(); err != nil {
		return nil, err
	}
	if s.network, err = newProxy(s.Address); err != nil {
		return nil, err
	}
	if _, err := s.Run(ctx, filepath.Join(bin, "initdb"), "--username=bursar", "--auth=trust", "--encoding=UTF8",
		"--locale=C", "-D", s.Data); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if _, err := s.Run(ctx, filepath.Join(bin, "createdb"), "--host="+s.Dir, "--port="+s.Port(), "--username=bursar",
		"bursar"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Run runs a program as the server's user and returns what it prints.
func (s *Server) Run(ctx context.Context, program string, args ...string) (string, error) {
	attr, err := unprivileged()
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, program, args...)
	command.SysProcAttr, command.Dir = attr, s.Dir
	command.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:" + s.bin, "LANG=C.UTF-8", "HOME=" + s.Dir}
	out, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", filepath.Base(program), err, out)
	}
	return string(out), nil
}

// Port is the port that the server listens on, also the name of its socket.
func (s *Server) Port() string { return s.Address[strings.LastIndex(s.Address, ":")+1:] }

// URL names the database named bursar.
func (s *Server) URL() string { return "postgres://bursar@" + s.Address + "/bursar?sslmode=disable" }

// RemoteURL is URL through a network that can be held.
func (s *Server) RemoteURL() string {
	return "postgres://bursar@" + s.network.address() + "/bursar?sslmode=disable"
}

// HoldNetwork makes the network of RemoteURL drop everything while its connections stay open, until ResumeNetwork.
func (s *Server) HoldNetwork() { s.network.hold() }

// ResumeNetwork forwards new connections; those that were held end.
func (s *Server) ResumeNetwork() { s.network.resume() }

// Alive reports whether the server's process runs: one without space for its log ends by itself.
func (s *Server) Alive() bool {
	return s.process != nil && len(children(s.process.shell.Process.Pid)) > 1
}

// Start runs the server and waits until it accepts writes.
func (s *Server) Start(ctx context.Context) (err error) {
	args := []string{"-D", s.Data, "-k", s.Dir, "-p", s.Port(), "-c", "listen_addresses=127.0.0.1"}
	for _, name := range slices.Sorted(maps.Keys(s.config)) {
		args = append(args, "-c", name+"="+strings.ReplaceAll(s.config[name], "DIR", s.Dir))
	}
	log := filepath.Join(s.Dir, "server.log")
	if s.process, err = start(s.Dir, log, filepath.Join(s.bin, "postgres"), args...); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	asked := member{listen: s.Address}
	for ticker := time.NewTicker(50 * time.Millisecond); ; {
		if asked.ask(ctx, "bursar", "SELECT NOT pg_is_in_recovery()") {
			return nil
		}
		select {
		case <-ctx.Done():
			text, _ := os.ReadFile(log)
			return fmt.Errorf("PostgreSQL accepts no writes: %w\n%s", ctx.Err(), text[max(0, len(text)-3000):])
		case <-ticker.C:
		}
	}
}

// Kill kills the server, as a power cut would.
func (s *Server) Kill() {
	if s.process != nil {
		s.signal(syscall.SIGKILL)
		s.process.kill()
		s.process = nil
	}
}

// Pause makes the server accept requests and answer nothing, like one whose disk hangs, until Resume.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// signal sends a signal to the server and its children.
func (s *Server) signal(signal syscall.Signal) {
	for _, pid := range append(children(s.process.pid), s.process.pid) {
		_ = syscall.Kill(pid, signal) // it may have ended already
	}
}

// children are the processes that a process has started.
func children(parent int) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state parent …; the name may contain anything (proc(5)).
		words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(words) < 2 || words[1] != strconv.Itoa(parent) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Close stops the server and removes it.
func (s *Server) Close() error {
	s.Kill()
	if s.network != nil {
		s.network.close()
	}
	return os.RemoveAll(s.Dir)
}
