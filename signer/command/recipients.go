package command

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/token"
	"github.com/bursar/bursar/signer/tpm"
)

// SeedRecipients is the commands of the ways to open the seed file.
type SeedRecipients struct {
	List   recipientsListCommand   `cmd:"" help:"List the ways to open the seed file."`
	Add    recipientsAddCommand    `cmd:"" help:"Add a way to open the seed file."`
	Remove recipientsRemoveCommand `cmd:"" help:"Remove a way to open the seed file."`
}

type recipientsListCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
	ofEpoch
}

// Help returns an example.
func (recipientsListCommand) Help() string {
	return "Reads the seed file and opens nothing.\n\nExample:\n\n    bursar seed recipients list"
}

// way is what is printed of one.
type way struct {
	Name string      `json:"name"`
	Kind signer.Kind `json:"kind"`
	To   string      `json:"to,omitempty"`
}

// Run prints the ways.
func (l recipientsListCommand) Run(c *Call) error {
	cfg, err := c.Load()
	if err == nil {
		cfg, err = l.of(cfg)
	}
	if err != nil {
		return err
	}
	content, err := signer.ReadSealed(cfg.SeedFile)
	if err != nil {
		return err
	}
	sealed, err := signer.ParseSealed(content)
	if err != nil {
		return err
	}
	var ways []way
	for _, w := range sealed.Ways() {
		ways = append(ways, way{w.Name, w.Kind, w.To})
	}
	return List(c, l.JSON, ways, "NAME KIND TO", func(w way) []any { return []any{w.Name, w.Kind, w.To} })
}

type recipientsAddCommand struct {
	Name           string `arg:"" help:"Name of the way: a-z, 0-9 and -."`
	PassphraseFile string `xor:"what" placeholder:"FILE" help:"Seal with another passphrase, which the file holds."`
	Recipient      string `xor:"what" placeholder:"AGE1…" help:"Seal to a recipient of age, such as a plugin's."`
	TPM            bool   `name:"tpm" xor:"what" help:"Seal by the TPM of this machine, to what it measured."`
	Token          string `xor:"what" placeholder:"FILE" help:"Seal to the public key of RSA of a PKCS#11 token, in PEM or DER."`
	PCRs           string `name:"pcrs" default:"7" placeholder:"LIST" help:"PCRs that must hold what they hold now. Default: 7, the state of Secure Boot."`
	ofEpoch
	Acting
}

// Help returns an example.
func (recipientsAddCommand) Help() string {
	return "Opens the seed file as every command does, and seals its key once more. What opens it now still opens it. " +
		"The program reads the changed file back before it takes the place of the old one.\n\nExample:\n\n" +
		"    bursar seed recipients add recovery --recipient age1…"
}

// Run adds a way.
func (a recipientsAddCommand) Run(c *Call) error {
	return c.changeSeedFile(a.ofEpoch, func(cfg config.Config, file *host.File) (signer.Sealed, error) {
		way, seal, err := a.way(c, cfg, file)
		if err != nil {
			return signer.Sealed{}, err
		}
		next, err := file.Sealed.Add(file.Opened, way, seal)
		if err != nil {
			return signer.Sealed{}, err
		}
		if way.Kind == signer.KindAge {
			c.Note("Only its identity shows whether it opens the file: run `bursar seed check` with it in " +
				"BURSAR_IDENTITY_FILE.")
			return next, nil
		}
		opened, err := next.OpenBy(way.Name, file.Openers)
		if errors.Is(err, signer.ErrNothingOpens) {
			err = fmt.Errorf("the new way does not open the seed file; nothing was changed: %w", err)
		}
		opened.Mnemonic.Wipe()
		return next, err
	}, "The way %s is added to %s.", a.Name)
}

// way returns what the flags ask for, and puts what opens it into the file's openers.
func (a recipientsAddCommand) way(c *Call, cfg config.Config, file *host.File) (
	way signer.Way, seal func(string) (string, error), err error,
) {
	switch {
	case a.PassphraseFile != "":
		passphrase, weak, err := host.PassphraseIn(cfg, a.PassphraseFile)
		if weak {
			c.Note("Warning: %v. On mainnet it would be refused.", signer.ErrWeakPassphrase)
		}
		file.Openers.Passphrase = passphrase
		return signer.Way{Name: a.Name, Kind: signer.KindPassphrase},
			signer.ToPassphrase(passphrase, signer.DefaultWorkFactor), err
	case a.Recipient != "":
		recipient, err := host.Recipient(a.Recipient, c.Getenv, func(text string) { c.Note("%s", text) })
		return signer.Way{Name: a.Name, Kind: signer.KindAge, To: a.Recipient}, signer.ToRecipient(recipient), err
	case a.TPM:
		pcrs, err := parsePCRs(a.PCRs)
		seal := func(key string) (string, error) { return tpm.Seal(host.TPM(cfg), pcrs, []byte(key)) }
		return signer.Way{Name: a.Name, Kind: signer.KindTPM, To: "PCRs " + a.PCRs}, seal, err
	case a.Token != "":
		text, err := os.ReadFile(a.Token)
		if err != nil {
			return way, nil, fmt.Errorf("read the token's key: %w", err)
		}
		key, err := token.ParseKey(text)
		if err != nil {
			return way, nil, err
		}
		seal := func(secret string) (string, error) { return key.Seal([]byte(secret)) }
		return signer.Way{Name: a.Name, Kind: signer.KindToken, To: key.String()}, seal, nil
	}
	return way, nil, Wrong("say what the seed file is to open with: --passphrase-file, --recipient, --tpm or --token")
}

func parsePCRs(list string) (pcrs []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, Wrong("--pcrs %s: %w", list, tpm.ErrPCRs)
		}
		pcrs = append(pcrs, n)
	}
	return pcrs, nil
}

type recipientsRemoveCommand struct {
	Name string `arg:"" help:"Name of the way, as the list shows it."`
	ofEpoch
	Confirmed
}

// Help returns an example.
func (recipientsRemoveCommand) Help() string {
	return "What is given here must still open the file without it. A copy of the file that was made before still opens " +
		"that way, backups too: if somebody may have both, make a new seed and move the money.\n\nExample:\n\n" +
		"    bursar seed recipients remove old-machine"
}

// Run removes a way.
func (r recipientsRemoveCommand) Run(c *Call) error {
	return c.changeSeedFile(r.ofEpoch, func(_ config.Config, file *host.File) (signer.Sealed, error) {
		return file.Sealed.Remove(r.Name)
	}, "The way %s is removed from %s.", r.Name)
}

// changeSeedFile replaces the seed file by what change makes of it, if that opens into the same seed.
func (c *Call) changeSeedFile(
	of ofEpoch, change func(cfg config.Config, file *host.File) (signer.Sealed, error), done, name string,
) error {
	cfg, err := c.Load()
	if err == nil {
		cfg, err = of.of(cfg)
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
	given := file.Openers
	next, err := change(cfg, &file)
	if err != nil {
		return err
	}
	content, err := next.Bytes()
	if err != nil {
		return err
	}
	// Read as it will be read at the next start, with what is given there: before the old file goes.
	again, err := signer.ParseSealed(content)
	if err != nil {
		return err
	}
	opened, err := again.Open(given)
	if err != nil {
		return fmt.Errorf("the changed file would not open with what is given here; nothing was changed: %w", err)
	}
	defer opened.Mnemonic.Wipe()
	if opened.Mnemonic.Reveal() != file.Opened.Mnemonic.Reveal() {
		return errors.New("the changed file would open into another seed; nothing was changed")
	}
	if err := signer.ReplaceSeedFile(cfg.SeedFile, file.Content, content); err != nil {
		return err
	}
	c.Note(done, name, cfg.SeedFile)
	return nil
}
