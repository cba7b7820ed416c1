// Package host runs the signer of a configuration: it opens the seed and the state, makes the policies and the adapters
// that read and assemble transactions, and serves.
//
// It owns what a process with a seed needs of its machine: which files are its own, and how they are opened. It decides
// nothing of what may be signed; that is package signer's. Its invariants: it uses no database of the service and asks
// no node; the seed's words are wiped once the keys are derived. Package service and the commands share it.
package host

import (
	"cmp"
	"runtime/debug"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
)

// StateFile returns the file in which the signer of a configuration remembers: signer.state, or beside the seed file.
func StateFile(cfg config.Config) string { return cmp.Or(cfg.Signer.State, cfg.SeedFile+".state") }

// MarksFile returns the path of the marks beside the seed file.
func MarksFile(cfg config.Config) string { return cfg.SeedFile + ".marks" }

// WatchOnlyMarks returns the path of the marks of a service that runs with a watch-only file, which are beside it: they
// are needed for every address, also while no signer can be reached.
func WatchOnlyMarks(cfg config.Config) string { return cfg.Signer.WatchOnly + ".marks" }

// CommandsFile returns the path of the watch-only file beside the seed file. Where it is there, commands beside a
// service that has the seed itself use it, and open no seed: what an operator decides signs nothing.
func CommandsFile(cfg config.Config) string { return cfg.SeedFile + ".watch" }

// Address returns the address of a configuration's remote signer.
func Address(cfg config.Config) remote.Address {
	s := cfg.Signer
	return remote.Address{URL: s.Address, CA: s.CA, Cert: s.Cert, Key: s.Key, Clients: s.Clients, Users: s.Users}
}

// Network returns the keys' network: all networks except mainnet share the test networks' key paths.
func Network(n config.Network) signer.Network {
	if n == config.Mainnet {
		return signer.Mainnet
	}
	return signer.Testnet
}

// OpenKeys opens the seed file with what the environment and the configuration give; see OpenFile.
func OpenKeys(cfg config.Config, getenv func(string) string) (*signer.Keys, error) {
	seeds, err := OpenSeeds(cfg, getenv)
	if err != nil {
		return nil, err
	}
	defer clear(seeds)
	return KeysOfSeeds(cfg, seeds)
}

// SeedBytes is how long a seed is.
const SeedBytes = 64

// OpenSeeds is OpenKeys for the seeds of the epochs themselves, one after another, each of SeedBytes. The caller clears
// them.
func OpenSeeds(cfg config.Config, getenv func(string) string) ([]byte, error) {
	newest, err := NewestSeed(cfg)
	if err != nil {
		return nil, err
	}
	seeds := make([]byte, 0, SeedBytes*(int(newest)+1)) // never grown: that would leave a copy
	for e := range newest + 1 {
		seed, err := openSeed(SeedFileOf(cfg, e), getenv)
		if err != nil {
			clear(seeds[:cap(seeds)])
			return nil, err
		}
		seeds = append(seeds, seed...)
		clear(seed)
	}
	return seeds, nil
}

func openSeed(cfg config.Config, getenv func(string) string) ([]byte, error) {
	file, err := OpenFile(cfg, getenv, nil)
	if err != nil {
		return nil, err
	}
	defer file.Opened.Mnemonic.Wipe()
	debug.FreeOSMemory() // opening the file takes 128 MiB, which the process would otherwise keep for minutes
	return file.Opened.Mnemonic.Seed("")
}
