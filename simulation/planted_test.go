package main

import (
	"testing"
)

// TestPlantedBugsAreFound checks that a bug that is planted in the service is found by a few histories.
func TestPlantedBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("-short builds no service with a bug in it")
	}
	t.Parallel()
	root, err := module()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		if _, err := b.find(root, 0, within); err != nil {
			t.Error(err)
		}
	}
}

// TestPlantedBugsFit checks that every planted bug fits the sources as they are.
func TestPlantedBugsFit(t *testing.T) {
	t.Parallel()
	root, err := module()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		if _, err := b.overlay(root, t.TempDir()); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}
