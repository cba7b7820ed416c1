package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// module is the directory of the service's sources, relative to simulation/ and to the directory where the command is
// run.
func module() (string, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Module.Dir}}", "github.com/bursar/bursar/simulation").Output()
	return strings.TrimSpace(string(out)), err
}

// overlay writes the file with the bug into a directory, and a list that makes the compiler use it in place of the
// original, which is not touched.
func (b bug) overlay(root, folder string) (list string, err error) {
	original := filepath.Join(root, b.file)
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	if n := bytes.Count(text, []byte(b.was)); n != 1 {
		return "", fmt.Errorf("%q occurs %d times in %s, want once", b.was, n, b.file)
	}
	planted := filepath.Join(folder, "planted.go")
	if err := os.WriteFile(planted, bytes.Replace(text, []byte(b.was), []byte(b.is), 1), 0o600); err != nil {
		return "", err
	}
	instead, err := json.Marshal(map[string]map[string]string{"Replace": {original: planted}})
	if err != nil {
		return "", err
	}
	list = filepath.Join(folder, "overlay.json")
	return list, os.WriteFile(list, instead, 0o600)
}

// build compiles a simulation of a service with the bug, and returns its file.
func (b bug) build(root, folder string) (string, error) {
	list, err := b.overlay(root, folder)
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "simulation")
	cmd := exec.Command("go", "build", "-ldflags=-w", "-overlay", list, "-o", file, "./simulation")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with %q: %w: %s", b.name, err, out)
	}
	return file, nil
}

// within is the number of histories in which each bug must be found.
const within = 300

// errMissed is returned if no history has shown a bug.
var errMissed = errors.New("not found")

// find runs seeds with the bug in the service until one fails, and returns the line that reports it.
func (b bug) find(root string, from uint64, n int) (line string, err error) {
	folder, err := os.MkdirTemp("", "planted")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	file, err := b.build(root, folder)
	if err != nil {
		return "", err
	}
	out, err := exec.Command(file, "-first", "-workers", "1", "-from", strconv.FormatUint(from, 10), "-n",
		strconv.Itoa(n)).Output()
	if err == nil {
		return "", fmt.Errorf("%q: %w in %d histories", b.name, errMissed, n)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "seed ") {
			return strings.TrimSpace(line), nil
		}
	}
	return "", fmt.Errorf("%q: %w", b.name, err)
}

// plant plants every bug, and prints which seed finds it.
func plant(out io.Writer, from uint64, n int) error {
	root, err := module()
	if err != nil {
		return err
	}
	var missed error
	for _, b := range bugs {
		line, err := b.find(root, from, n)
		if err != nil {
			line = err.Error()
		}
		missed = errors.Join(missed, err)
		fmt.Fprintf(out, "%s\n  %s\n", b.name, line)
	}
	return missed
}
