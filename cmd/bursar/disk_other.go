//go:build !linux && !darwin

package main

// freeSpace cannot tell.
func freeSpace(string) (uint64, error) { return 0, errNoFreeSpace }
