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
	return s.differs(manifest, s.folder("BURSAR_CLIENTS", "clients"))
}

func (s clients) Install(ctx context.Context) error { return s.locked(ctx, "clients", manifest) }

// generators are programs that make clients of the API's description, and that evaluate it: hey-api and redocly; and
// PHP 7.4 in WebAssembly. They are apart from the other libraries because they need many of their own.
type generators struct{ machine }

// generatorsManifest is the directory with their versions.
const generatorsManifest = "sandbox/clients/generators"

func (generators) Name() string { return "generators" }
func (generators) Says() string {
	return "generators of clients at the versions of " + generatorsManifest + " with npm, in the cache folder"
}
func (generators) After() []string { return []string{"nodejs"} }

func (s generators) Needed(context.Context) bool {
	return s.differs(generatorsManifest, s.folder("BURSAR_GENERATORS", "generators"))
}

func (s generators) Install(ctx context.Context) error {
	return s.locked(ctx, "generators", generatorsManifest)
}

// receiver is the package of others by which examples/receiver-js verifies webhooks.
type receiver struct{ machine }

// receiverManifest is the directory with its version.
const receiverManifest = "examples/receiver-js"

func (receiver) Name() string { return "receiver" }
func (receiver) Says() string {
	return "standardwebhooks at the version of " + receiverManifest + " with npm, in the cache folder"
}
func (receiver) After() []string { return []string{"nodejs"} }

func (s receiver) Needed(context.Context) bool {
	return s.differs(receiverManifest, s.folder("BURSAR_RECEIVER", "receiver"))
}

func (s receiver) Install(ctx context.Context) error {
	return s.locked(ctx, "receiver", receiverManifest)
}

// differs reports whether a folder has not what a lock file says.
func (m machine) differs(manifest, folder string) bool {
	wanted, err := os.ReadFile(filepath.Join(manifest, "package-lock.json"))
	found, missing := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	return err != nil || missing != nil || !bytes.Equal(wanted, found)
}

// locked fills the folder of a name with what a lock file says.
func (m machine) locked(ctx context.Context, name, manifest string) error {
	return m.replace(name, func(work string) error { return m.ci(ctx, manifest, work) })
}
