package main

import (
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

// build compiles one simulation of a service that has every bug, each behind its name, and returns its file.
func build(root, folder string) (string, error) {
	list, err := overlay(root, folder)
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "simulation")
	cmd := exec.Command("go", "build", "-ldflags=-w", "-overlay", list, "-o", file, "./simulation")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build with the planted bugs: %w: %s", err, out)
	}
	return file, nil
}

// within is the number of histories in which each bug must be found.
const within = 300

// errMissed is returned if no history has shown a bug.
var errMissed = errors.New("not found")

// find runs seeds with the bug in the service until one fails, and returns the line that reports it.
func (b bug) find(simulation string, from uint64, n int) (line string, err error) {
	cmd := exec.Command(simulation, "-first", "-workers", "1", "-from", strconv.FormatUint(from, 10), "-n",
		strconv.Itoa(n))
	cmd.Env = append(os.Environ(), plantedBug+"="+b.name)
	out, err := cmd.Output()
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

// plant plants every bug, one at a time, and prints which seed finds it.
func plant(out io.Writer, from uint64, n int) error {
	root, err := module()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "planted")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	simulation, err := build(root, folder)
	if err != nil {
		return err
	}
	var missed error
	for _, b := range bugs {
		line, err := b.find(simulation, from, n)
		if err != nil {
			line = err.Error()
		}
		missed = errors.Join(missed, err)
		fmt.Fprintf(out, "%s\n  %s\n", b.name, line)
	}
	return missed
}
