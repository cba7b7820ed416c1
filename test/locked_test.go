package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bursar/bursar/test/pins"
)

// lock is what of a lock file says what is installed.
type lock struct {
	Packages map[string]struct {
		Version, Integrity, Resolved string
		Link                         bool
		OptionalDependencies         map[string]string
	}
}

// lockOf reads the lock file in a directory.
func lockOf(t *testing.T, folder string) (l lock) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestEverythingOfNpmHasADigest guards that npm installs nothing of which only a registry says what it is.
func TestEverythingOfNpmHasADigest(t *testing.T) {
	t.Chdir("..")
	for folder, least := range map[string]int{locks + "/anvil": 4, locks + "/hardhat": 200, locks + "/litesvm": 1,
		manifest: 100} {
		found := 0
		for name, p := range lockOf(t, folder).Packages {
			if name == "" {
				continue
			}
			found++
			if !strings.HasPrefix(p.Integrity, "sha512-") || p.Resolved != "" || p.Link {
				t.Errorf("%s of %s has the digest %q and the address %q, want sha512 and none", name, folder, p.Integrity,
					p.Resolved)
			}
		}
		if found < least {
			t.Errorf("%s locks %d packages, want at least %d", folder, found, least)
		}
	}
}

// TestTheLockFilesHaveThePinnedVersions guards that a version is raised in both places: the directories are named after
// the pins.
func TestTheLockFilesHaveThePinnedVersions(t *testing.T) {
	t.Chdir("..")
	for folder, want := range map[string]string{"anvil": pins.Anvil, "hardhat": pins.Hardhat, "litesvm": pins.LiteSVM} {
		found := 0
		for name, p := range lockOf(t, filepath.Join(locks, folder)).Packages {
			if name == "node_modules/hardhat" || folder != "hardhat" && name != "" {
				if found++; p.Version != want {
					t.Errorf("%s is locked at %s, want %s of test/pins", name, p.Version, want)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s locks nothing, want version %s", folder, want)
		}
	}
}

func TestOnePackageOfALockFileIsAskedForWithItsDigest(t *testing.T) {
	t.Chdir("..")
	text, err := os.ReadFile(locks + "/anvil/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	const name = "@foundry-rs/anvil-linux-arm64"
	files, err := single(text, name)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(files[0]), `{"dependencies":{"`+name+`":"`+pins.Anvil+`"},"private":true}`; got != want {
		t.Errorf("the package is %s, want %s", got, want)
	}
	if want := lockOf(t, locks+"/anvil").Packages["node_modules/"+name].Integrity; !strings.Contains(string(files[1]),
		want) || strings.Contains(string(files[1]), "amd64") || strings.Contains(string(files[1]), "optional") {
		t.Errorf("the lock file is %s, want the digest %s of one package", files[1], want)
	}
	if _, err := single(text, "@foundry-rs/anvil-plan9-mips"); !errors.Is(err, errNotLocked) {
		t.Errorf("of a platform without a package: %v, want %v", err, errNotLocked)
	}
	bare := `{"packages":{"node_modules/a":{"version":"1.0.0"}}}`
	if _, err := single([]byte(bare), "a"); err == nil || errors.Is(err, errNotLocked) {
		t.Errorf("of a package without a digest: %v, want an error", err)
	}
}

// TestAPlatformThatIsNotLockedIsReported checks that such a platform still gets the pinned version.
func TestAPlatformThatIsNotLockedIsReported(t *testing.T) {
	t.Chdir("..")
	f := newFake(t)
	folder := t.TempDir()
	if err := f.one(t.Context(), locks+"/litesvm", folder, "litesvm-plan9-mips", pins.LiteSVM); err != nil {
		t.Fatal(err)
	}
	if !holds(f.ran, "npm install", "litesvm-plan9-mips@"+pins.LiteSVM) ||
		!holds(f.said, "has no digest of litesvm-plan9") {
		t.Errorf("it runs %q and prints %q, want the pinned version and that it has no digest", f.ran, f.said)
	}
	f.ran = nil
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		if err := (hardhat{f.machine}).Install(t.Context()); err != nil || !holds(f.ran, "npm ci") {
			t.Errorf("it runs %q: %v, want npm ci", f.ran, err)
		}
	}
}
