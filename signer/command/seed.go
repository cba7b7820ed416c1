package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
)

// Seed is the commands of the seed.
type Seed struct {
	New          seedNewCommand          `cmd:"" help:"Create a seed, write the seed file and print its words once."`
	Restore      seedRestoreCommand      `cmd:"" help:"Write the seed file from words on standard input."`
	HandOver     seedHandOverCommand     `cmd:"" name:"hand-over" hidden:"" help:"Write the seed to the process that runs this."`
	Check        seedCheckCommand        `cmd:"" help:"Open the seed file and print its fingerprint."`
	ExportPublic seedExportPublicCommand `cmd:"" help:"Print the public keys as JSON."`

	ExportWatchOnly seedExportWatchOnlyCommand `cmd:"" help:"Print the file with which a service runs without the seed."`

	Recipients SeedRecipients `cmd:"" help:"Show and change what opens the seed file."`
	Shares     SeedShares     `cmd:"" help:"Split an identity for recovery between persons."`
}

// ofEpoch holds the flag of commands of one seed among those of several epochs.
type ofEpoch struct {
	Epoch uint32 `placeholder:"N" help:"The epoch of the seed; see docs/operations/rotation.md. Default: 0, the first."`
}

// of returns the configuration with the seed file of the epoch.
func (o ofEpoch) of(cfg config.Config) (config.Config, error) {
	if host.Epoch(o.Epoch) > host.MaxEpoch {
		return cfg, Wrong("--epoch %d: the last is %d", o.Epoch, host.MaxEpoch)
	}
	return host.SeedFileOf(cfg, host.Epoch(o.Epoch)), nil
}

// before returns the seed file of the epoch before.
func (o ofEpoch) before(cfg config.Config) (string, error) {
	cfg, err := ofEpoch{o.Epoch - 1}.of(cfg)
	return cfg.SeedFile, err
}

type seedNewCommand struct {
	ofEpoch
	Acting
}

// Help returns an example.
func (seedNewCommand) Help() string {
	return "Writes seed_file of the configuration, encrypted with the passphrase in BURSAR_PASSPHRASE or in the file " +
		"that BURSAR_PASSPHRASE_FILE names. " +
		"An existing file is never overwritten. Only the words are written to standard output.\n\n" +
		"With --epoch it is the seed that is to follow, in a file beside that one, and changes nothing yet.\n\n" +
		"Example:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar seed new --epoch 1"
}

// Run creates a seed.
func (cmd seedNewCommand) Run(ctx context.Context, c *Call) error {
	cfg, passphrase, err := c.seedTarget(cmd.ofEpoch)
	if err != nil {
		return err
	}
	mnemonic, err := signer.NewMnemonic(rand.Reader)
	if err != nil {
		return err
	}
	defer mnemonic.Wipe()
	if err := c.writeSeed(cfg, mnemonic, passphrase); err != nil {
		return err
	}
	if cmd.Epoch == 0 { // the others share the state of the first
		if err := c.newState(ctx, cfg, mnemonic); err != nil {
			return fmt.Errorf("remove %s and start again: %w", cfg.SeedFile, err)
		}
	}
	if err := c.Say("%s", mnemonic.Reveal()); err != nil {
		return fmt.Errorf("the words could not be printed: remove %s and start again (%w)", cfg.SeedFile, err)
	}
	c.Note("These words are shown only once. Anyone who has them controls all the money: write them down on paper, " +
		"keep them away from this machine,\nand test `bursar seed restore` with them before the first deposit.")
	return nil
}

// newState creates the signer's state for a new seed, with which nothing was signed before.
func (c *Call) newState(ctx context.Context, cfg config.Config, mnemonic signer.Mnemonic) error {
	keys, err := signer.NewKeys(mnemonic, host.Network(cfg.Network))
	if err != nil {
		return err
	}
	defer keys.Wipe()
	begin := memory.Init{Fingerprint: keys.Fingerprint(), At: time.Now(), New: true}
	if err := memory.Create(ctx, host.StateFile(cfg), begin); err != nil || !cfg.Signer.CounterRequired {
		return err
	}
	return host.BindCounter(ctx, cfg, begin, Actor{}.Name(), "the seed was created")
}

type seedRestoreCommand struct {
	ofEpoch
	Acting
}

// Help returns an example.
func (seedRestoreCommand) Help() string {
	return "Reads the words from standard input, never from the command line, where other users could see them.\n\n" +
		"Example:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar seed restore < words"
}

// maxWords bounds what is read from standard input, in bytes; 24 words have at most 215.
const maxWords = 4096

// Run writes the seed file from words.
func (cmd *seedRestoreCommand) Run(c *Call) error {
	cfg, passphrase, err := c.seedTarget(cmd.ofEpoch)
	if err != nil {
		return err
	}
	if f, ok := c.Stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			c.Note("Type the words, then Enter and Ctrl-D.")
		}
	}
	text, err := io.ReadAll(io.LimitReader(c.Stdin, maxWords))
	if err != nil {
		return fmt.Errorf("read the words from standard input: %w", err)
	}
	defer clear(text)
	mnemonic, err := signer.ParseMnemonic(string(text))
	if err != nil {
		return fmt.Errorf("the words on standard input cannot be used: %w", err)
	}
	defer mnemonic.Wipe()
	return c.writeSeed(cfg, mnemonic, passphrase)
}

type seedCheckCommand struct {
	ofEpoch
	Acting
}

// Help returns an example.
func (seedCheckCommand) Help() string {
	return "Opens the seed file with what is given here, as the service does, and changes nothing. If the file has " +
		"several ways, it says which one opened it, and why others before it did not.\n\nExample:\n\n" +
		"    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar seed check"
}

// Run opens the seed file.
func (cmd *seedCheckCommand) Run(c *Call) error {
	cfg, err := c.Load()
	if err == nil {
		cfg, err = cmd.of(cfg)
	}
	if err != nil {
		return err
	}
	if err := host.Shield(); err != nil {
		return err
	}
	file, err := host.OpenFile(cfg, c.Getenv, func(text string) { c.Note("%s", text) })
	if err != nil {
		return err
	}
	defer file.Opened.Mnemonic.Wipe()
	keys, err := signer.NewKeys(file.Opened.Mnemonic, host.Network(cfg.Network))
	if err != nil {
		return err
	}
	defer keys.Wipe()
	for _, why := range file.Opened.Failed {
		c.Note("The way %s.", why)
	}
	if file.Sealed.Container() {
		c.Note("The way %s opens it.", file.Opened.By)
	}
	return c.Say("the seed file %s opens; its fingerprint is %s", cfg.SeedFile, keys.Fingerprint())
}

type seedExportPublicCommand struct{}

// Help returns an example.
func (seedExportPublicCommand) Help() string {
	return "With these keys addresses can be derived without the seed. They cannot spend, but they link all addresses: " +
		"keep them private.\n\nExample:\n\n    bursar seed export-public > public.json"
}

// Run prints the public keys.
func (seedExportPublicCommand) Run(c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	return c.PrintJSON(keys.ExportPublic())
}

// openKeys opens the seed in a process that others cannot read.
func (c *Call) openKeys(cfg config.Config) (*signer.Keys, error) {
	if err := host.Shield(); err != nil {
		return nil, err
	}
	return host.OpenKeys(cfg, c.Getenv)
}

// seedTarget returns where to write a seed and with which passphrase. It refuses an existing file before any seed is
// made or typed.
func (c *Call) seedTarget(of ofEpoch) (config.Config, signer.Passphrase, error) {
	cfg, err := c.Load()
	if err != nil {
		return cfg, signer.Passphrase{}, err
	}
	if of.Epoch > 0 {
		before, err := of.before(cfg)
		if err != nil {
			return cfg, signer.Passphrase{}, err
		}
		if _, err := os.Lstat(before); err != nil {
			return cfg, signer.Passphrase{}, Wrong("--epoch %d: the seed of the epoch before it is not here: %v", of.Epoch, err)
		}
	}
	if cfg, err = of.of(cfg); err != nil {
		return cfg, signer.Passphrase{}, err
	}
	if _, err := os.Lstat(cfg.SeedFile); err == nil {
		return cfg, signer.Passphrase{}, existing(cfg)
	}
	if err := host.Shield(); err != nil {
		return cfg, signer.Passphrase{}, err
	}
	passphrase, weak, err := host.NewPassphrase(cfg, c.Getenv)
	if weak {
		c.Note("Warning: %v. On mainnet it would be refused.", signer.ErrWeakPassphrase)
	}
	return cfg, passphrase, err
}

func existing(cfg config.Config) error {
	return fmt.Errorf("the seed file %s exists and is not overwritten: name another seed_file, or move this file away "+
		"if no database uses it", cfg.SeedFile)
}

func (c *Call) writeSeed(cfg config.Config, mnemonic signer.Mnemonic, passphrase signer.Passphrase) error {
	sealed, err := signer.Seal(mnemonic, passphrase)
	if err != nil {
		return err
	}
	keys, err := signer.NewKeys(mnemonic, host.Network(cfg.Network))
	if err != nil {
		return err
	}
	defer keys.Wipe()
	if err := signer.WriteSeedFile(cfg.SeedFile, sealed); errors.Is(err, fs.ErrExist) {
		return existing(cfg)
	} else if err != nil {
		return err
	}
	c.Note("The seed file %s is written; its fingerprint is %s.", cfg.SeedFile, keys.Fingerprint())
	return nil
}
