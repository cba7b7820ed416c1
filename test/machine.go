package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// machine is what the steps know about the computer, and what they may do to it besides writing files in its cache
// directory. Tests use another one.
type machine struct {
	root   bool // whether this user is root
	cache  func() (string, error)
	getenv func(name string) string
	path   func(program string) string                    // path of a program, or ""
	glob   func(pattern string) []string                  // the files that match
	run    func(context.Context, command) error           // its output is shown
	keep   func(context.Context, command) (string, error) // all of its output, returned and not shown
	read   func(context.Context, command) (string, error)
	say    func(line string)
	out    io.Writer // the terminal
}

// command is a program with its arguments, in a directory and with variables besides those of this process.
type command struct {
	folder string
	env    []string
	args   []string
	out    io.Writer // where its output is shown; nil for the terminal
	group  bool      // whether what it starts is stopped with it
}

func line(args ...string) command { return command{args: args} }

func (c command) String() string { return strings.Join(c.args, " ") }

// system is the computer that this runs on.
func system() machine {
	return machine{
		root: os.Getuid() == 0, cache: os.UserCacheDir, getenv: os.Getenv,
		path: func(program string) string {
			found, err := exec.LookPath(program)
			if err != nil {
				return ""
			}
			return found
		},
		glob: func(pattern string) []string {
			found, _ := filepath.Glob(pattern) // a bad pattern matches nothing
			return found
		},
		run: func(ctx context.Context, c command) error {
			child := c.child(ctx)
			child.Stdout = os.Stdout
			if c.out != nil {
				child.Stdout = c.out
			}
			child.Stderr = child.Stdout // one stream, so that go test's last line comes last
			return child.Run()
		},
		keep: func(ctx context.Context, c command) (string, error) {
			out, err := c.child(ctx).CombinedOutput()
			return string(out), err
		},
		read: func(ctx context.Context, c command) (string, error) {
			out, err := c.child(ctx).Output()
			return string(out), err
		},
		say: func(line string) { fmt.Println(line) }, out: os.Stdout,
	}
}

// quiet is the machine whose commands show their output only where they fail: several run at the same time, and nobody
// reads what they print when all is well.
func (m machine) quiet() machine {
	m.run = func(ctx context.Context, c command) error {
		out, err := m.keep(ctx, c)
		if err != nil {
			m.say(strings.TrimSuffix(out, "\n"))
		}
		return err
	}
	return m
}

// child is the command ready to start. It is asked to stop with this process, and killed if it does not.
func (c command) child(ctx context.Context) *exec.Cmd {
	child := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	child.Dir = c.folder
	child.Env = append(os.Environ(), c.env...)
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	if c.group { // go test does not stop the tests that it runs
		child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		child.Cancel = func() error { return syscall.Kill(-child.Process.Pid, syscall.SIGINT) }
	}
	child.WaitDelay = 10 * time.Second
	return child
}

// nodes is the directory of the tests' nodes and libraries.
func (m machine) nodes() (string, error) {
	cache, err := m.cache()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(cache, "bursar-nodes"), nil
}

// works reports whether a command succeeds here.
func (m machine) works(ctx context.Context, args ...string) bool {
	_, err := m.read(ctx, line(args...))
	return err == nil
}
