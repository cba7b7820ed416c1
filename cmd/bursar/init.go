package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

type initCommand struct {
	Network     string   `enum:",mainnet,testnet,regtest" default:"" help:"mainnet, testnet or regtest (private chains). A database and a seed belong to one network for ever."`
	Chain       []string `sep:"none" placeholder:"CHAIN=URL" help:"A chain and the URL of its node; repeatable. Without =URL it is read from standard input, which a password requires."`
	Database    string   `placeholder:"URL" help:"sqlite:FILE or postgres://USER@HOST/NAME. Default: a file in the folder of --state."`
	State       string   `placeholder:"FOLDER" help:"Folder of the seed file and of an SQLite database. Default: that of the configuration."`
	Listen      string   `placeholder:"ADDRESS" help:"Address of the API. Default: 127.0.0.1:8080."`
	AdminListen string   `placeholder:"ADDRESS" help:"Address of metrics and the console. Default: 127.0.0.1:8081."`
	ConsoleURL  string   `placeholder:"URL" help:"Where browsers open the console, if not on this machine: https:// and a host name."`
	NoSeed      bool     `help:"Make no seed: the signer is a process of its own, or a seed is restored later."`
	Passphrase  string   `name:"passphrase-file" placeholder:"FILE" help:"File with the passphrase of the seed; created if missing. Default: passphrase beside the configuration."`
	Operator    string   `placeholder:"NAME" help:"Invite this person to the console as admin, and print the link."`
	Owner       string   `placeholder:"USER" help:"Make this user, as whom the service runs, the owner of the created files. Requires root."`
	Yes         bool     `help:"Do not prompt; use the defaults of flags that are not set."`
	JSON        bool     `name:"json" help:"Print one JSON object."`
}

// Help returns what is made, and examples.
func (initCommand) Help() string {
	return "Asks for what no flag says, and makes a configuration, a seed and a database that belong together; on " +
		"mainnet with conservative limits, without which the signer pays out nothing. What exists is never overwritten. " +
		"The words of the seed are printed once.\n\n" +
		"Repeat --chain for several chains, and for several nodes of one. A passphrase file that does not exist is made " +
		"with a random passphrase; without --passphrase-file the passphrase of the environment is used, if there is one." +
		"\n\nExample:\n\n    bursar init\n    " +
		"bursar init --config /etc/bursar/bursar.yaml --state /var/lib/bursar --owner bursar --network testnet " +
		"--chain bitcoin=http://127.0.0.1:18332 --yes"
}

// setup is what init is about to make.
type setup struct {
	cmd        *initCommand
	call       *call
	file       string // of the configuration
	nodes      map[string][]string
	passphrase string // file of it; empty: the environment has it, or there is no seed
}

// Run asks, evaluates, and makes everything. Nothing is written before the whole configuration was evaluated.
func (cmd *initCommand) Run(ctx context.Context, c *call) error {
	s := &setup{cmd: cmd, call: c, file: c.Config, nodes: map[string][]string{}}
	if s.file == "" {
		s.file = config.DefaultFile
	}
	if err := errors.Join(s.free(), s.visible()); err != nil {
		return err
	}
	if err := s.questions(c.asker(cmd.Yes)); err != nil {
		return err
	}
	text, cfg, err := s.compose()
	if err != nil {
		return err
	}
	if !cmd.NoSeed {
		if _, err := os.Lstat(cfg.SeedFile); err == nil {
			return wrong("the seed file %s exists: use --no-seed to keep it, or name another folder in --state", cfg.SeedFile)
		}
	}
	return s.make(ctx, cfg, text)
}

// unedited is a line of the configuration that the packages install: init may replace such a file.
const unedited = "# Not set up yet: `bursar init` replaces this file."

// free refuses an existing configuration.
func (s *setup) free() error {
	text, err := os.ReadFile(s.file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case slices.Contains(strings.Split(string(text), "\n"), unedited):
		return nil
	}
	return wrong("%s exists and is not overwritten: edit it and run `bursar config check`, or name another file with "+
		"--config", s.file)
}

// visible refuses a password of the database among the flags.
func (s *setup) visible() error {
	u, err := url.Parse(s.cmd.Database)
	if err != nil {
		return nil // the whole configuration is evaluated later
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return wrong("--database has a password, which every user of this machine can read there: leave the flag out, and " +
			"put the URL on standard input")
	}
	return nil
}

// questions asks for what no flag says.
func (s *setup) questions(a *asker) (err error) {
	if s.cmd.Network == "" {
		s.cmd.Network, err = a.askFor("Network: mainnet, testnet or regtest", string(config.Testnet), faultOfNetwork)
		if err != nil {
			return err
		}
	}
	if err := s.chains(a); err != nil {
		return err
	}
	for _, q := range []struct {
		to       *string
		question string
		preset   string
	}{
		{&s.cmd.State, "Folder of the seed and the database", filepath.Dir(s.file)},
		{&s.cmd.Database, "Database: sqlite:FILE or postgres://USER@HOST/NAME", "sqlite:bursar.db"},
		{&s.cmd.Listen, "Address of the API", "127.0.0.1:8080"},
		{&s.cmd.AdminListen, "Address of metrics and the console", "127.0.0.1:8081"},
	} {
		if *q.to == "" {
			if *q.to, err = a.ask(q.question, q.preset); err != nil {
				return err
			}
		}
	}
	return s.passphraseFile(a)
}

// faultOfNetwork says what is wrong with the name of a network.
func faultOfNetwork(name string) string {
	switch name {
	case string(config.Mainnet), string(config.Testnet), string(config.Regtest):
		return ""
	}
	return "it is one of mainnet, testnet and regtest"
}

// faultOfNode says what is wrong with the URL of a node, of which none is right too. It does not show the URL, which
// may have a password.
func faultOfNode(text string) string {
	u, err := url.Parse(text)
	if text == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return ""
	}
	return "a URL is of the form http://user:password@host:port (or https)"
}

// chains reads the chains of the flags, or asks for each one.
func (s *setup) chains(a *asker) error {
	for _, given := range s.cmd.Chain {
		name, url, whole := strings.Cut(given, "=")
		if whole && strings.Contains(url, "@") {
			return wrong("--chain %s has a password, which every user of this machine can read there: leave out =URL, and "+
				"put the URL on standard input", name)
		}
		if !whole {
			var err error
			if url, err = a.askFor("URL of a node of "+name, "", faultOfNode); err != nil {
				return err
			}
		}
		if url == "" {
			return wrong("--chain %s has no URL: put it on standard input, or write --chain %s=URL", name, name)
		}
		s.nodes[name] = append(s.nodes[name], url)
	}
	if len(s.cmd.Chain) > 0 || a.silent {
		return nil
	}
	s.call.Note("A chain without a node stays off; press Enter to leave one out.")
	for _, id := range registry.IDs() {
		url, err := a.askFor("URL of a node of "+string(id), "", faultOfNode)
		if err != nil {
			return err
		}
		if url != "" {
			s.nodes[string(id)] = []string{url}
		}
	}
	return nil
}

// passphraseFile says where the passphrase is, or will be.
func (s *setup) passphraseFile(a *asker) (err error) {
	has := s.call.Getenv(signer.PassphraseVariable) != "" || s.call.Getenv(signer.PassphraseFileVariable) != ""
	if s.cmd.NoSeed || has && s.cmd.Passphrase == "" {
		return nil
	}
	if has {
		return wrong("the environment has a passphrase already: leave out --passphrase-file")
	}
	s.passphrase = s.cmd.Passphrase
	if s.passphrase == "" {
		s.passphrase, err = a.ask("File of the seed's passphrase, made if it does not exist",
			filepath.Join(filepath.Dir(s.file), "passphrase"))
	}
	return err
}

// compose returns the text of the configuration and what the service reads in it.
func (s *setup) compose() (text string, cfg config.Config, err error) {
	basic := s.text(config.Config{})
	if cfg, err = s.read(basic); err != nil {
		return "", cfg, err
	}
	if cfg.Network != config.Mainnet {
		return basic, cfg, nil
	}
	text = s.text(cfg)
	cfg, err = s.read(text)
	return text, cfg, err
}

func (s *setup) read(text string) (config.Config, error) {
	cfg, err := config.Parse(s.file, []byte(text), s.call.Environ)
	if err != nil {
		return cfg, wrong("this configuration would not be valid, and nothing is written:\n%w", err)
	}
	return cfg, nil
}

// made is what init prints as JSON.
type made struct {
	Config      string   `json:"config"`
	SeedFile    string   `json:"seedFile,omitempty"`
	Fingerprint string   `json:"fingerprint,omitempty"`
	Words       string   `json:"words,omitempty"` // of the seed, shown only once
	Passphrase  string   `json:"passphraseFile,omitempty"`
	Invitation  string   `json:"invitation,omitempty"`
	Next        []string `json:"next"` // commands
}

// print prints the words and the link as results, and the rest as notes.
func (s *setup) print(m made) error {
	if s.cmd.JSON {
		return s.call.PrintJSON(m)
	}
	for _, line := range []string{m.Words, m.Invitation} {
		if line == "" {
			continue
		}
		if err := s.call.Say("%s", line); err != nil {
			return err
		}
	}
	s.call.Note("%s is written.", m.Config)
	if m.Words != "" {
		s.call.Note("The words of the seed are shown only once. Anyone who has them controls all the money: write them " +
			"down on paper, keep them\naway from this machine, and test `bursar seed restore` with them before the first " +
			"deposit.")
	}
	if m.Passphrase != "" {
		s.call.Note("%s opens the seed file. Keep a copy apart from the seed file's backups; on mainnet see "+
			"`bursar docs operations/seed` for\na TPM, a token, or a signer on another machine.", m.Passphrase)
	}
	s.call.Note("Next:")
	for _, line := range m.Next {
		s.call.Note("  %s", line)
	}
	return nil
}

func (s *setup) next() []string {
	program, way := "bursar --config "+s.file, ""
	if s.passphrase != "" {
		way = fmt.Sprintf("%s=%s ", signer.PassphraseFileVariable, s.passphrase)
	}
	return []string{
		way + program + " doctor",
		way + program + " account create --name NAME",
		way + program + " serve",
	}
}
