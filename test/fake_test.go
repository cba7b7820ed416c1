package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fake is a computer on which only what a test puts there exists.
type fake struct {
	machine
	programs map[string]string // output of --version and the like, by program
	files    map[string][]string
	env      map[string]string
	failing  string // commands that contain one of these fail
	effect   func(command)

	lock sync.Mutex // of what follows
	ran  []string
	said []string
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{programs: map[string]string{}, files: map[string][]string{}, env: map[string]string{}}
	cache := t.TempDir()
	f.machine = machine{
		root: true, cache: func() (string, error) { return cache, nil },
		getenv: func(name string) string { return f.env[name] },
		path: func(program string) string {
			if _, found := f.programs[program]; found {
				return "/usr/bin/" + program
			}
			return ""
		},
		glob: f.glob, run: f.run, read: f.read,
		say: f.say, out: io.Discard,
		keep: func(ctx context.Context, c command) (string, error) { return "", f.run(ctx, c) },
	}
	return f
}

// glob finds the files that a test names, and the real ones in the cache directory.
func (f *fake) glob(pattern string) []string {
	cache, _ := f.cache()
	if strings.HasPrefix(pattern, cache) {
		found, _ := filepath.Glob(pattern)
		return found
	}
	return f.files[pattern]
}

func (f *fake) say(line string) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.said = append(f.said, line)
}

func (f *fake) run(_ context.Context, c command) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.ran = append(f.ran, c.String())
	if f.failing != "" && strings.Contains(c.String(), f.failing) {
		return errors.New("exit status 100")
	}
	if f.effect != nil {
		f.effect(c)
	}
	return nil
}

// read runs programs on the path, and files in the cache directory.
func (f *fake) read(_ context.Context, c command) (string, error) {
	if f.failing != "" && strings.Contains(c.String(), f.failing) {
		return "", errors.New("exit status 1")
	}
	if text, found := f.programs[filepath.Base(c.args[0])]; found {
		return text, nil
	}
	if len(f.glob(c.args[0])) > 0 {
		return "", nil
	}
	return "", errors.New("not found")
}

// has puts working programs on the path.
func (f *fake) has(programs ...string) {
	for _, program := range programs {
		f.programs[program] = ""
	}
}

// holds reports whether one of the lines contains all the parts.
func holds(lines []string, parts ...string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	})
}
