package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fake is a computer of which nothing is there but what a test puts there.
type fake struct {
	machine
	programs map[string]string // what --version and the like print, by the program that works
	files    map[string][]string
	env      map[string]string
	failing  string // commands that contain it fail
	effect   func(command)

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
		say: func(line string) { f.said = append(f.said, line) },
	}
	return f
}

// glob finds the files that a test names, and the real ones in the cache folder.
func (f *fake) glob(pattern string) []string {
	cache, _ := f.cache()
	if strings.HasPrefix(pattern, cache) {
		found, _ := filepath.Glob(pattern)
		return found
	}
	return f.files[pattern]
}

func (f *fake) run(_ context.Context, c command) error {
	f.ran = append(f.ran, c.String())
	if f.failing != "" && strings.Contains(c.String(), f.failing) {
		return errors.New("exit status 100")
	}
	if f.effect != nil {
		f.effect(c)
	}
	return nil
}

// read runs what is on the path, and what is a file in the cache folder.
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

// holds says that a line with all the parts is among the lines.
func holds(lines []string, parts ...string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	})
}
