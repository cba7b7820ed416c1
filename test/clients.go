package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
)

// clients are third-party client libraries: ethers, tronweb, xrpl.js, @solana/web3.js, bitcoinjs-lib and those that
// read payment links, the contracts of Safe, axe-core, which examines pages, and openapi-typescript and typescript,
// which make and compile the types of our TypeScript client.
type clients struct{ machine }

// manifest is the directory with the versions and digests of everything that they need.
const manifest = "sandbox/clients/javascript"

func (clients) Name() string { return "clients" }
func (clients) Says() string {
	return "JavaScript client libraries at the versions of " + manifest + " with npm, in the cache folder"
}
func (clients) After() []string { return []string{"nodejs"} }

func (s clients) Needed(context.Context) bool {
	wanted, err := os.ReadFile(filepath.Join(manifest, "package-lock.json"))
	found, missing := os.ReadFile(filepath.Join(s.folder("BURSAR_CLIENTS", "clients"), "package-lock.json"))
	return err != nil || missing != nil || !bytes.Equal(wanted, found)
}

func (s clients) Install(ctx context.Context) error {
	return s.replace("clients", func(work string) error { return s.ci(ctx, manifest, work) })
}
