//go:build !linux

package host

import "errors"

// Shield does nothing where the system has no such call.
func Shield() error { return nil }

func lockMemory() error { return errors.New("memory is locked on Linux only") }
