//go:build !unix

package memory

import "os"

// lock does nothing where files cannot be locked: only one signer may use a state file there.
func lock(string) (unlock func() error, err error) { return func() error { return nil }, nil }

// Without locks a freezing command cannot wait for what is on its way out.
func exclude(*os.File) error { return nil }

func share(*os.File) error { return nil }

func unshare(*os.File) {}
