//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// Whatever holds the seed leaves no core and is kept out of swap, the service as well as the signer.
func TestAProcessWithTheSeedIsProtected(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("locking memory needs a right that only a privileged user is sure to have")
	}
	for name, message := range map[string]string{"serve": "listening", "signer": "signer listening"} {
		folder, err := os.MkdirTemp("", "bursar") // a socket's path must be short
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(folder) })
		lines := []string{"signer: {lock_memory: required}"}
		if name == "signer" {
			lines = []string{"signer: {lock_memory: required, address: 'unix:" + filepath.Join(folder, "s") + "'}"}
		}
		d := newSeededHarness(t, lines...)
		d.says(d.start(name), message)
		proc := filepath.Join("/proc", strconv.Itoa(d.pid))
		limits, err := os.ReadFile(filepath.Join(proc, "limits"))
		if err != nil || !regexp.MustCompile(`Max core file size\s+0\s+0\s`).Match(limits) {
			t.Errorf("%s has the limits\n%s%v", name, limits, err)
		}
		status, err := os.ReadFile(filepath.Join(proc, "status"))
		if err != nil || !regexp.MustCompile(`VmLck:\s+\d{5,} kB`).Match(status) {
			t.Errorf("%s has the status\n%s%v", name, status, err)
		}
	}
}
