//go:build !linux && !darwin

package main

// freeSpace returns errNoFreeSpace: this system has no call for it.
func freeSpace(string) (uint64, error) { return 0, errNoFreeSpace }
