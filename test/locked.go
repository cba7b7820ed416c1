package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// locks holds a directory for each program and library of npm, with the digest of everything that is installed with
// it: npm alone would compare a download with the digest that the registry names that day.
const locks = "test/npm"

// manifests are the files that npm ci reads.
var manifests = []string{"package.json", "package-lock.json"}

// ci installs in a directory what the lock file of another one names.
func (m machine) ci(ctx context.Context, locked, folder string) error {
	for _, name := range manifests {
		text, err := os.ReadFile(filepath.Join(locked, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return m.npm(ctx, folder, "ci")
}

// one installs in a directory a single package of those that the lock file of another one names, which are one for each
// platform. It asks for it as what the directory depends on, because an npm whose Node.js is older than the package
// names leaves out an optional dependency, though the program runs all the same. A platform that the lock file does not
// name gets the package at its version, and a message says so.
func (m machine) one(ctx context.Context, locked, folder, name, version string) error {
	text, err := os.ReadFile(filepath.Join(locked, manifests[1]))
	if err != nil {
		return err
	}
	files, err := single(text, name)
	if errors.Is(err, errNotLocked) {
		m.say("   " + locked + " has no digest of " + name + ": npm compares it with the registry's alone")
		return m.npm(ctx, folder, "install", "--prefix", folder, name+"@"+version)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", locked, err)
	}
	for i, file := range files {
		if err := os.WriteFile(filepath.Join(folder, manifests[i]), file, 0o644); err != nil {
			return err
		}
	}
	return m.npm(ctx, folder, "ci")
}

// errNotLocked means that a lock file does not name a package.
var errNotLocked = errors.New("not in the lock file")

// single returns the manifests of a directory that depends on one package of a lock file and on nothing else.
func single(lock []byte, name string) (manifests [2][]byte, err error) {
	var all struct {
		Packages map[string]map[string]any `json:"packages"`
	}
	if err := json.Unmarshal(lock, &all); err != nil {
		return manifests, err
	}
	const installed = "node_modules/"
	entry, found := all.Packages[installed+name]
	if !found {
		return manifests, fmt.Errorf("%s: %w", name, errNotLocked)
	}
	if entry["integrity"] == nil || entry["dependencies"] != nil {
		return manifests, fmt.Errorf("%s has no digest, or depends on others, which have none here", name)
	}
	delete(entry, "optional")
	needs := map[string]any{name: entry["version"]}
	for i, content := range []map[string]any{
		{"private": true, "dependencies": needs},
		{"lockfileVersion": 3, "requires": true, "packages": map[string]any{
			"": map[string]any{"dependencies": needs}, installed + name: entry,
		}},
	} {
		if manifests[i], err = json.Marshal(content); err != nil {
			return manifests, err
		}
	}
	return manifests, nil
}
