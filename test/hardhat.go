package main

import (
	"context"
	"path/filepath"

	"github.com/bursar/bursar/test/pins"
)

// hardhat is an Ethereum node for developers, in JavaScript around a library. It supports fewer methods than anvil.
type hardhat struct{ machine }

func (hardhat) Name() string    { return "hardhat" }
func (hardhat) Says() string    { return "Hardhat " + pins.Hardhat + " with npm, in the cache folder" }
func (hardhat) After() []string { return []string{"nodejs"} }

func (h hardhat) Needed(ctx context.Context) bool {
	return !h.runs(ctx, h.folder("BURSAR_HARDHAT", "hardhat-"+pins.Hardhat))
}

// runs reports whether the Hardhat in a directory runs here, library included.
func (h hardhat) runs(ctx context.Context, folder string) bool {
	edr := filepath.Join(folder, "node_modules", "@nomicfoundation", "edr")
	return h.works(ctx, "node", "-e", "require(process.argv[1])", edr)
}

func (h hardhat) Install(ctx context.Context) error {
	return h.replace("hardhat-"+pins.Hardhat, func(work string) error {
		return h.ci(ctx, locks+"/hardhat", work)
	})
}
