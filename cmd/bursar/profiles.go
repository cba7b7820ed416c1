package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/bursar/bursar/client"
)

// profile is a service and an API key for it.
type profile struct {
	API    string `yaml:"api"`
	Key    string `yaml:"key"`
	Secret string `yaml:"secret,omitempty"`
}

// profiles are what the file of profiles holds.
type profiles struct {
	Use  string             `yaml:"use,omitempty"` // the one that is used where none is named; empty: none
	Each map[string]profile `yaml:"profiles"`
}

var profileName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)

// maxProfiles bounds the file, in bytes.
const maxProfiles = 1 << 20

// profilesFile returns the file of this user's profiles (XDG Base Directory Specification 0.8).
func (c *call) profilesFile() (string, error) {
	folder := c.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(folder) {
		home := c.Getenv("HOME")
		if home == "" {
			return "", wrong("there is no folder for profiles: set HOME or XDG_CONFIG_HOME")
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "bursar", "profiles.yaml"), nil
}

// profiles reads the file; without one there are none. A file that others can read is refused: it holds keys.
func (c *call) profiles() (p profiles, err error) {
	p.Each = map[string]profile{}
	path, err := c.profilesFile()
	if err != nil {
		return p, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return p, wrong("%s has mode %04o, so others can read its keys: chmod 600 %s", path, mode, path)
	}
	if info.Size() > maxProfiles {
		return p, wrong("%s has more than %d bytes", path, maxProfiles)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	if yaml.Unmarshal(text, &p) != nil || p.Each == nil { // the error could quote a key
		return p, wrong("%s is not a file of profiles: move it away, and add them again", path)
	}
	return p, nil
}

// saveProfiles replaces the file, whole or not at all.
func (c *call) saveProfiles(p profiles) error {
	path, err := c.profilesFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	return writeNew(path, text, true)
}

// named returns a profile, or the one in use where the name is empty; found is false where there is none.
func (p profiles) named(name string) (found profile, is bool, err error) {
	if name == "" {
		found, is = p.Each[p.Use]
		return found, is, nil
	}
	if found, is = p.Each[name]; !is {
		return found, false, wrong("there is no profile %q: see `bursar profile list`", name)
	}
	return found, true, nil
}

// check reports what a client would refuse.
func (p profile) check() error {
	_, err := client.New(client.Config{BaseURL: p.API, Key: p.Key, Secret: p.Secret})
	if err != nil {
		return fmt.Errorf("this profile cannot be used: %w", err)
	}
	return nil
}
