package main

import (
	"context"
	"path/filepath"
)

// hardhat is an Ethereum node for developers, in JavaScript around a library. It supports fewer methods than anvil.
type hardhat struct{ machine }

const hardhatVersion = "2.26.3"

func (hardhat) Name() string    { return "hardhat" }
func (hardhat) Says() string    { return "Hardhat " + hardhatVersion + " with npm, in the cache folder" }
func (hardhat) After() []string { return []string{"nodejs"} }

func (h hardhat) Needed(ctx context.Context) bool {
	return !h.runs(ctx, h.folder("BURSAR_HARDHAT", "hardhat-"+hardhatVersion))
}

// runs reports whether the Hardhat in a directory runs here, library included.
func (h hardhat) runs(ctx context.Context, folder string) bool {
	edr := filepath.Join(folder, "node_modules", "@nomicfoundation", "edr")
	return h.works(ctx, "node", "-e", "require(process.argv[1])", edr)
}

func (h hardhat) Install(ctx context.Context) error {
	return h.replace("hardhat-"+hardhatVersion, func(work string) error {
		return h.npm(ctx, work, "install", "--prefix", work, "hardhat@"+hardhatVersion)
	})
}
