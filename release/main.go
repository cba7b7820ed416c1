// Command release builds what is released: static programs for Linux, a list of parts for each, packages and
// images of them, and the digests of all.
//
// It owns how programs are built for others, and never publishes them. Its invariants: the same commit gives the same
// bytes, whatever the machine, its folders and its caches are; what is not committed is not built; a file that exists
// is not replaced.
//
//	go run ./release -out dist                    everything
//	go run ./release -out dist -key minisign.key  with a signature of the digests by minisign
//	go run ./release -out dist -key key.pub       with one by ssh-keygen, whose agent has the key
//	go run ./release -out dist -packages          with packages of Debian and RPM, and images
//	go run ./release -only bursar-signer          one program, for both architectures
//	go run ./release -check                       builds everything twice in different folders, and compares
//	go run ./release -check -packages             the same with packages and images
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// toolchain is the release of Go that builds.
//
//go:embed toolchain.txt
var toolchain string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	out := flag.String("out", "dist", "folder for what is built, which must not exist")
	key := flag.String("key", "", "secret key of minisign, or a key of SSH, that signs SHA256SUMS; of a public key of "+
		"SSH the agent has the other half")
	only := flag.String("only", "", "the only program to build, such as bursar-signer")
	packed := flag.Bool("packages", false, "make packages of Debian and RPM, and images, too; needs dpkg-deb and rpmbuild")
	check := flag.Bool("check", false, "build everything twice and compare, and keep nothing")
	flag.Parse()
	if *only != "" && !slices.Contains(programs, *only) {
		fmt.Fprintf(os.Stderr, "go run ./release: -only %s: the programs are %s\n", *only, strings.Join(programs, ", "))
		os.Exit(2)
	}
	run := func() error { return release(ctx, *out, *key, builder{only: *only, packed: *packed}) }
	if *check {
		run = func() error { return reproduce(ctx, builder{only: *only, packed: *packed}) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "go run ./release:", err)
		os.Exit(1)
	}
}

// release builds the commit of the current folder.
func release(ctx context.Context, out, key string, b builder) error {
	if err := b.packsAlike(runtime.Version()); err != nil {
		return err
	}
	at, err := commitTime(ctx, os.Getenv)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "bursar-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	// From a clone, so that files that git ignores, and another form of a work tree, make no difference.
	b.folder, b.toolchain, b.at = filepath.Join(root, "clone"), strings.TrimSpace(toolchain), at
	if err := b.clone(ctx, "."); err != nil {
		return err
	}
	if err := b.all(ctx, out); err != nil {
		return err
	}
	if key == "" {
		fmt.Fprintf(os.Stderr, "UNSIGNED: nobody can know who made %s. Give -key (KEY=… of make) to sign its digests; see "+
			"docs/operations/releases.md.\n", out)
		return nil
	}
	return sign(ctx, out, key)
}

// packsAlike refuses to pack with another release of Go than the one that builds: releases of Go compress differently,
// and images and archives would have other digests.
func (b builder) packsAlike(running string) error {
	if want := strings.TrimSpace(toolchain); b.packed && running != want {
		return fmt.Errorf("this is %s, and packages are the same for everybody only by %s: run `GOTOOLCHAIN=%s go run "+
			"./release`, as make does", running, want, want)
	}
	return nil
}

// reproduce builds two clones in folders of different lengths, each with a cache of its own, and compares. The second
// is a clone of the first, so that a commit that is made meanwhile changes nothing.
func reproduce(ctx context.Context, b builder) error {
	if err := b.packsAlike(runtime.Version()); err != nil {
		return err
	}
	at, err := commitTime(ctx, os.Getenv)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "bursar-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	var sums []string
	source := "."
	for _, name := range []string{"one", "another-folder"} {
		b.folder, b.cache = filepath.Join(root, name), filepath.Join(root, name+"-cache")
		b.toolchain, b.at = strings.TrimSpace(toolchain), at
		if err := b.clone(ctx, source); err != nil {
			return err
		}
		source = b.folder
		if err := b.all(ctx, filepath.Join(root, name+"-out")); err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, name+"-out", sumsFile))
		if err != nil {
			return err
		}
		sums = append(sums, string(text))
	}
	if sums[0] != sums[1] {
		return fmt.Errorf("two builds differ:\n%s\n%s", sums[0], sums[1])
	}
	fmt.Print("Two builds are the same, byte for byte:\n" + sums[0])
	return nil
}

// commitTime returns SOURCE_DATE_EPOCH, or the time of the commit, which must be what the folder holds.
func commitTime(ctx context.Context, getenv func(string) string) (time.Time, error) {
	changed, err := read(ctx, ".", "git", "status", "--porcelain")
	if err != nil {
		return time.Time{}, err
	}
	if changed != "" {
		return time.Time{}, fmt.Errorf("commit or remove first what nobody else has:\n%s", changed)
	}
	text := getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		if text, err = read(ctx, ".", "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %.40q: it must be a number of seconds", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// read returns what a command prints.
func read(ctx context.Context, folder string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Dir = folder
	out, err := c.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%w: %.500s", err, failed.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
