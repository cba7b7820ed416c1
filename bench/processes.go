package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// programs are the binaries that are measured.
type programs struct{ bursar, sandbox, self string }

func build(ctx context.Context, dir string) (programs, error) {
	self, err := os.Executable()
	if err != nil {
		return programs{}, fmt.Errorf("find this program: %w", err)
	}
	p := programs{bursar: filepath.Join(dir, "bursar"), sandbox: filepath.Join(dir, "sandbox"), self: self}
	for path, pkg := range map[string]string{p.bursar: "./cmd/bursar", p.sandbox: "./sandbox"} {
		command := exec.CommandContext(ctx, "go", "build", "-o", path, pkg)
		if out, err := command.CombinedOutput(); err != nil {
			return p, fmt.Errorf("build %s: %w\n%s", pkg, err, out)
		}
	}
	return p, nil
}

// process is a program of this run; it ends when the run ends.
type process struct {
	name    string
	command *exec.Cmd
	lines   *bufio.Reader // its standard output
	log     *journal
	input   io.Closer
}

// journal keeps what a process writes to its standard error. It is safe for concurrent use.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps the text.
func (j *journal) Write(text []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(text)
}

// String returns all that was written so far.
func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// start starts a program. It outlives the context, until stop.
func start(ctx context.Context, name, program string, env []string, args ...string) (*process, error) {
	command := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	p := &process{name: name, command: command, log: &journal{}}
	p.command.Env = append(os.Environ(), env...)
	p.command.Stderr = p.log
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.input, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.lines = bufio.NewReader(out)
	return p, nil
}

// line returns the next line of the standard output.
func (p *process) line() (string, error) {
	text, err := p.lines.ReadString('\n')
	if err != nil {
		p.stop()
		return "", fmt.Errorf("%s ended: %w\n%s", p.name, err, lastLines(p.log.String(), 20))
	}
	return strings.TrimSpace(text), nil
}

// stop ends the process and waits for it; one that does not end by itself is killed.
func (p *process) stop() {
	_ = p.input.Close()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(20*time.Second, func() { _ = p.command.Process.Kill() })
	defer kill.Stop()
	_, _ = io.Copy(io.Discard, p.lines)
	_ = p.command.Wait()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// freePort returns an address of loopback on which nothing listens now.
func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// memory returns how many bytes of a process are in memory (Linux).
func (p *process) memory() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, is := strings.CutPrefix(line, "VmRSS:"); is {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("the status of %s has no VmRSS", p.name)
}

// ticksPerSecond is the unit of /proc/PID/stat on Linux.
const ticksPerSecond = 100

// processor returns how much processor time a process has used (Linux).
func (p *process) processor() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.command.Process.Pid))
	if err != nil {
		return 0, err
	}
	return processorTime(string(text))
}

// processorTime adds up user and system time in a line of /proc/PID/stat. The second field is the program's name in
// brackets, which may contain anything.
func processorTime(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("the status of a process is %.100q", stat)
	}
	var ticks int64
	for _, text := range fields[11:13] {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("the status of a process is %.100q", stat)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}
