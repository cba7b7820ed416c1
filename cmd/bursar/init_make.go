package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/store"
)

// text writes the configuration. Limits are those of a configuration that was read without them; of a zero one there
// are none.
func (s *setup) text(limits config.Config) string {
	var b strings.Builder
	b.WriteString("# Made by `bursar init`. All keys: `bursar docs operations`. After each change: " +
		"`bursar config check`, then `bursar doctor`.\n\n")
	for _, line := range [][2]string{
		{"network", s.cmd.Network},
		{"listen", s.cmd.Listen},
		{"admin_listen", s.cmd.AdminListen},
		{"database", s.database()},
		{"seed_file", s.within("seed.age")},
	} {
		fmt.Fprintf(&b, "%s: %s\n", line[0], quoted(line[1]))
	}
	if s.cmd.ConsoleURL != "" {
		fmt.Fprintf(&b, "console:\n  url: %s\n", quoted(s.cmd.ConsoleURL))
	}
	s.chainLines(&b)
	if limits.Registry == nil {
		return b.String()
	}
	heading := "\n# The most that the signer pays out to customers within any hour, day and week. Raise it to what you " +
		"really pay out.\ncurrencies:\n"
	for _, c := range limits.Registry.All() {
		if line := command.CurrencyLimits(limits, c); line != "" {
			fmt.Fprintf(&b, "%s  %s: {%s}\n", heading, c.Code, line)
			heading = ""
		}
	}
	return b.String()
}

// chainLines writes the nodes, the most trusted first. Limits of fees and of sweeps are left to their defaults, which
// doctor finds well.
func (s *setup) chainLines(b *strings.Builder) {
	if len(s.nodes) == 0 {
		b.WriteString("\n# chains:\n#   bitcoin: {rpc: \"http://127.0.0.1:8332\"}\n")
		return
	}
	b.WriteString("\nchains:\n")
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		urls := make([]string, len(s.nodes[id]))
		for i, url := range s.nodes[id] {
			urls[i] = strconv.Quote(url)
		}
		fmt.Fprintf(b, "  %s:\n    rpc: [%s]\n", id, strings.Join(urls, ", "))
	}
}

// quoted writes a value so that YAML takes it for a text, plainly where that is the same.
func quoted(value string) string {
	if strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:-") == "" &&
		!strings.HasPrefix(value, "-") && !strings.HasSuffix(value, ":") && value != "" {
		return value
	}
	return strconv.Quote(value)
}

// database returns the database with a file's path as the configuration has it.
func (s *setup) database() string {
	file, is := strings.CutPrefix(s.cmd.Database, "sqlite:")
	if !is || filepath.IsAbs(file) {
		return s.cmd.Database
	}
	return "sqlite:" + s.within(file)
}

// within returns the path of a file of the state, relative to the configuration where both are in one folder.
func (s *setup) within(name string) string {
	if filepath.Clean(s.cmd.State) == filepath.Dir(s.file) {
		return name
	}
	folder, err := filepath.Abs(s.cmd.State)
	if err != nil {
		folder = s.cmd.State
	}
	return filepath.Join(folder, name)
}

// make writes everything, the configuration first and the database last. If the seed cannot be made, what was written
// before it is removed again, so that the command can be repeated.
func (s *setup) make(ctx context.Context, cfg config.Config, text string) (err error) {
	owner, err := ownerOf(s.cmd.Owner)
	if err != nil {
		return err
	}
	replaced, _ := os.ReadFile(s.file) // of a package, or none
	if err := os.MkdirAll(s.cmd.State, 0o700); err != nil {
		return err
	}
	done := made{Config: s.file, Next: s.next()}
	madePassphrase, err := s.newPassphrase()
	if err != nil {
		return err
	}
	err = writeNew(s.file, []byte(text), replaced != nil)
	wrote := err == nil
	if wrote {
		err = s.seed(ctx, cfg, &done)
	}
	if err != nil {
		return errors.Join(err, s.undo(wrote, madePassphrase, replaced))
	}
	return s.finish(ctx, cfg, owner, done, madePassphrase)
}

// undo removes what was written before the seed could not be made.
func (s *setup) undo(wrote, madePassphrase bool, replaced []byte) (err error) {
	if madePassphrase {
		err = os.Remove(s.passphrase)
	}
	switch {
	case wrote && replaced != nil:
		err = errors.Join(err, writeNew(s.file, replaced, true))
	case wrote:
		err = errors.Join(err, os.Remove(s.file))
	}
	return err
}

// finish makes the database and prints what was made, also where the database could not be made: the words of the seed
// are shown now or never.
func (s *setup) finish(
	ctx context.Context, cfg config.Config, owner *user.User, done made, madePassphrase bool,
) error {
	err := s.open(ctx, cfg, &done)
	if err != nil {
		err = fmt.Errorf("the configuration and the seed are made, the database is not: correct `database`, then run "+
			"`bursar doctor`: %w", err)
	}
	return errors.Join(s.print(done), err, s.giveTo(owner, cfg, madePassphrase))
}

// newPassphrase makes the file of the passphrase, unless it exists.
func (s *setup) newPassphrase() (written bool, err error) {
	if s.passphrase == "" {
		return false, nil
	}
	err = writeNew(s.passphrase, []byte(rand.Text()+"\n"), false) // 130 bits
	if errors.Is(err, os.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// writeNew writes a file that only its owner may read, whole or not at all. Only with replace may it be there already.
func writeNew(path string, text []byte, replace bool) error {
	var f *os.File
	var err error
	if replace {
		f, err = os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	} else {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil && replace {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// seed makes the seed as `bursar seed new` does.
func (s *setup) seed(ctx context.Context, cfg config.Config, done *made) error {
	if s.cmd.NoSeed {
		return nil
	}
	var words bytes.Buffer
	sub := s.call.Call
	sub.Config, sub.Stdout, sub.Stderr = s.file, &words, new(bytes.Buffer)
	if s.passphrase != "" {
		sub.Environ = append(slices.Clone(sub.Environ), signer.PassphraseFileVariable+"="+s.passphrase)
	}
	if err := (command.Seed{}).New.Run(ctx, &sub); err != nil {
		return err
	}
	done.Words = strings.TrimSpace(words.String())
	done.SeedFile, done.Passphrase = cfg.SeedFile, s.passphrase
	return nil
}

// fewAddresses is how many addresses the first start finds ready on chains where only the seed derives them.
const fewAddresses = 1000

// open makes the database, bound to the seed where there is one, and invites the first person.
func (s *setup) open(ctx context.Context, cfg config.Config, done *made) error {
	c := &call{Call: s.call.Call, did: s.call.did}
	c.Config = s.file
	if s.passphrase != "" {
		c.Environ = append(slices.Clone(c.Environ), signer.PassphraseFileVariable+"="+s.passphrase)
	}
	if err := openOnce(ctx, c, cfg, s.cmd.NoSeed, done); err != nil {
		return err
	}
	if s.cmd.Operator == "" {
		return nil
	}
	people, db, err := c.people(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	invited, err := people.Invite(ctx, here("first person"), s.cmd.Operator, []operator.Role{operator.Admin}, nil)
	done.Invitation = invited.Link
	return err
}

func openOnce(ctx context.Context, c *call, cfg config.Config, watchOnly bool, done *made) error {
	if watchOnly {
		db, err := store.Open(ctx, store.Config{URL: cfg.Database.Reveal()})
		if err != nil {
			return err
		}
		c.witness(db)
		return db.Close()
	}
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	done.Fingerprint = s.Keys.Fingerprint()
	for _, family := range s.Pool.Families {
		if err := s.Pool.Fill(ctx, family, fewAddresses); err != nil {
			return err
		}
	}
	return nil
}
