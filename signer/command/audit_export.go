package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/proof"
)

type signerLogExportCommand struct {
	File string `arg:"" placeholder:"FILE" help:"Where to write it. A file that is there stays."`
	Acting
}

// Help returns an example.
func (signerLogExportCommand) Help() string {
	return "Writes the whole log, one entry a line in JSON, with a checkpoint over it that is signed with a key from " +
		"the seed, and prints that key. It may run beside the signer. The file shows every payment and who approved " +
		"it, and holds no secret. `bursar audit verify`, `bursar audit list` and, on the service's machine, " +
		"`bursar audit compare` read it with the key; take that from a place of your own, never from where the file " +
		"comes from.\n\nExample:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar audit export november.log"
}

// Run writes an export.
func (cmd *signerLogExportCommand) Run(ctx context.Context, c *Call) error {
	var x proof.Exported
	var key string
	err := c.export(ctx, cmd.File, func(keys *signer.Keys, file *memory.File, to io.Writer) (err error) {
		name := proof.Name(keys.Fingerprint())
		if key, err = proof.Key(name, keys.LogKey()); err == nil {
			x, err = proof.Export(ctx, file, to, name, key, keys.SignNote)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.Done(Facts{"file": cmd.File, "entries": x.Size, "key": key, "latestAt": x.Head.At},
		"%s has %d entries, the last of %s. The key is %s", cmd.File, x.Size, Moment(x.Head.At), key)
}

// ReadLog verifies an export in a file with a key, and calls visit as proof.ReadExport does.
func ReadLog(path, key string, visit func(memory.Entry) error) (x proof.Exported, err error) {
	if key == "" {
		return x, errNoKey
	}
	file, err := os.Open(path)
	if err != nil {
		return x, fmt.Errorf("read the export: %w", err)
	}
	x, err = proof.ReadExport(file, key, visit)
	return x, errors.Join(err, file.Close())
}

// isExport reports whether a file begins as an export.
func isExport(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("read what is to be checked: %w", err)
	}
	begins, _ := bufio.NewReader(file).Peek(64) // a shorter file is none
	return proof.IsExport(begins), file.Close()
}

// verifyExport checks an export.
func (c *Call) verifyExport(path, key string) error {
	x, err := ReadLog(path, key, func(memory.Entry) error { return nil })
	if err != nil {
		return err
	}
	return c.Say("the export of %s is whole: %d entries, of which each follows from the one before; the last is of %s",
		x.Log, x.Size, Moment(x.Head.At))
}
