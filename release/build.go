package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// What is released.
var (
	programs      = []string{"bursar", "bursar-signer", "bursar-approve"}
	architectures = []string{"amd64", "arm64"}
)

const sumsFile = "SHA256SUMS"

// builder builds the sources of a folder.
type builder struct {
	folder    string
	cache     string // of Go; empty: the user's
	toolchain string
	only      string    // the only program; empty: all
	packed    bool      // packages and images too
	at        time.Time // when what is built says that it was made
}

// clone copies the commit of a folder, with its tags, to that of the builder.
func (b builder) clone(ctx context.Context, from string) error {
	_, err := read(ctx, ".", "git", "clone", "--quiet", "--no-hardlinks", from, b.folder)
	return err
}

// all builds everything into a folder that does not exist.
func (b builder) all(ctx context.Context, out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.Mkdir(out, 0o755); err != nil {
		return fmt.Errorf("make the folder for what is built: %w", err)
	}
	var files []string
	for _, architecture := range architectures {
		for _, program := range programs {
			if b.only != "" && b.only != program {
				continue
			}
			name := program + "-linux-" + architecture
			if err := b.program(ctx, "./cmd/"+program, architecture, filepath.Join(out, name)); err != nil {
				return err
			}
			if err := writeParts(filepath.Join(out, name), b.at); err != nil {
				return err
			}
			files = append(files, name, name+partsSuffix)
		}
	}
	if b.packed {
		version, err := b.version(ctx)
		if err != nil {
			return err
		}
		packed, err := b.allPackages(ctx, out, version)
		if err != nil {
			return err
		}
		files = append(files, packed...)
	}
	return b.sums(out, files)
}

// tool runs a program of the system that writes packages, so that it takes the time of the release for its own.
func (b builder) tool(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(b.at.Unix(), 10), "LC_ALL=C", "TZ=UTC")
	out, err := c.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w: apt-get install dpkg rpm", err)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %.2000s", args[0], err, out)
	}
	return string(out), nil
}

// version is the commit's tag without its v, or else one below every tag that can follow, with the commit's day and
// hash. It has no hyphen, and both package managers put what follows a tilde before what has none.
func (b builder) version(ctx context.Context) (string, error) {
	tag, err := read(ctx, b.folder, "git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
	if err == nil {
		return strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(tag), "v"), "-", "~"), nil
	}
	hash, err := read(ctx, b.folder, "git", "rev-parse", "--short=12", "HEAD")
	if err != nil {
		return "", err
	}
	return "0.0.0~" + b.at.UTC().Format("20060102") + "." + strings.TrimSpace(hash), nil
}

// program builds one static program. Nothing of the machine is in it: -trimpath leaves out its folders, an empty build
// ID what depends on them, and the variables what a user may have set for other builds.
func (b builder) program(ctx context.Context, source, architecture, to string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", to,
		source)
	c.Dir = b.folder
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+architecture, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "GOFIPS140=off", "GO111MODULE=on",
		"GOTOOLCHAIN="+b.toolchain)
	if b.cache != "" {
		c.Env = append(c.Env, "GOCACHE="+b.cache)
	}
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s for %s: %w: %s", source, architecture, err, out)
	}
	return os.Chtimes(to, b.at, b.at)
}

// sums writes the digests of files as sha256sum does.
func (b builder) sums(folder string, files []string) error {
	var text strings.Builder
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(&text, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	path := filepath.Join(folder, sumsFile)
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		return err
	}
	return os.Chtimes(path, b.at, b.at)
}
