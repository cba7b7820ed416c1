package main

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bursar/bursar/config"
)

// ownerOf returns the user of --owner; nil: what is made belongs to the user of this process.
func ownerOf(name string) (*user.User, error) {
	if name == "" {
		return nil, nil
	}
	found, err := user.Lookup(name)
	if err != nil {
		return nil, wrong("--owner: %v", err)
	}
	return found, nil
}

// giveTo gives the files that were made to a user.
func (s *setup) giveTo(owner *user.User, cfg config.Config, madePassphrase bool) error {
	if owner == nil {
		return nil
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(owner.Gid)
	if err != nil {
		return err
	}
	files := []string{s.file}
	if madePassphrase { // one that was there is its owner's
		files = append(files, s.passphrase)
	}
	if filepath.Clean(s.cmd.State) != filepath.Dir(s.file) {
		files = append(files, s.cmd.State)
	}
	of, err := filepath.Glob(cfg.SeedFile + "*")
	files = append(files, of...)
	if file, is := strings.CutPrefix(cfg.Database.Reveal(), "sqlite:"); is && err == nil {
		of, err = filepath.Glob(file + "*")
		files = append(files, of...)
	}
	for _, path := range files {
		if path != "" && err == nil {
			err = os.Lchown(path, uid, gid)
		}
	}
	if err != nil {
		return fmt.Errorf("give what was made to %s: %w", owner.Username, err)
	}
	return nil
}
