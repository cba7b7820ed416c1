package drill

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// SmallDisk mounts a disk of a size such as "24m", which the end of the test unmounts, and returns its directory. The
// test is skipped by -short and where nothing can be mounted.
func SmallDisk(t testing.TB, size string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("fills a disk: left out by -short")
	}
	dir, err := os.MkdirTemp("", "bursar-small-") // not below t.TempDir, which only its owner may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=755,size="+size, "tmpfs",
		dir).CombinedOutput(); err != nil {
		t.Skipf("mounting a disk needs root: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount: %v: %s", err, out)
		}
	})
	return dir
}

// Fill uses up the space that is left on a disk, and returns a function that frees it.
func Fill(t testing.TB, dir string) (empty func()) {
	t.Helper()
	ballast := filepath.Join(dir, "ballast")
	file, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 64<<10); len(block) >= 512; {
		if _, err := file.Write(block); err != nil {
			block = block[:len(block)/2]
		}
	}
	return func() {
		if err := os.Remove(ballast); err != nil {
			t.Error(err)
		}
	}
}
