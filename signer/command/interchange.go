package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
)

type signerExportCommand struct {
	File string `arg:"" placeholder:"FILE" help:"Where to write it. A file that is there stays."`
	Acting
}

// Help returns an example.
func (signerExportCommand) Help() string {
	return "Writes what the signer's state forbids and counts, signed with a key from the seed: what the limits hold, " +
		"which UTXOs, orders and approvals were used, which keys were revoked. It holds no secret, but shows what was " +
		"paid. The signer may go on meanwhile; what it signs later is not in the file, so stop and freeze a signer that " +
		"is to be replaced first. `bursar signer import` merges it.\n\nExample:\n\n    " +
		"BURSAR_PASSPHRASE_FILE=/run/passphrase bursar signer export state-2026-11-27.export"
}

// Run writes an export.
func (cmd *signerExportCommand) Run(ctx context.Context, c *Call) error {
	var e memory.Exported
	err := c.export(ctx, cmd.File, func(keys *signer.Keys, file *memory.File, to io.Writer) (err error) {
		e, err = file.Export(ctx, to, keys.SignExport)
		return err
	})
	if err != nil {
		return err
	}
	return c.Done(Facts{"file": cmd.File, "instance": e.Instance, "entry": e.Entry, "hash": e.Hash},
		"%s has the state of instance %s up to entry %d of its log.", cmd.File, e.Instance, e.Entry)
}

// export writes a new file from the signer's state, with its keys. A file that is not whole is removed.
func (c *Call) export(
	ctx context.Context, name string, write func(keys *signer.Keys, state *memory.File, to io.Writer) error,
) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	to, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	err = c.signerState(ctx, func(state *memory.File) error { return write(keys, state, to) })
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

type signerImportCommand struct {
	File string `arg:"" placeholder:"FILE" help:"What bursar signer export wrote."`
	Begin
	Confirmed
}

// Help returns an example.
func (signerImportCommand) Help() string {
	return "Merges an export into this signer's state: of the same signer, or of another one with the same seed. It " +
		"only forbids and counts more, whatever the file says and however old it is. Keys of clients that were not " +
		"here bind their accounts and must be added again; a policy must be applied again. Where both states cannot be " +
		"true, this one keeps its own and the signer is frozen. Stop the signer first, and never run two with one seed " +
		"and a state each.\n\nExample:\n\n    bursar signer import state-2026-11-27.export --reason 'the disk failed'"
}

// Run merges an export.
func (cmd *signerImportCommand) Run(ctx context.Context, c *Call) (err error) {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	from, err := os.Open(cmd.File)
	if err != nil {
		return fmt.Errorf("read the export: %w", err)
	}
	defer from.Close()
	done, err := memory.Import(ctx, host.StateFile(cfg), memory.Init{Fingerprint: keys.Fingerprint(), At: time.Now()},
		from, keys.VerifyExport, host.Counter(cfg), cmd.Name(), cmd.Reason)
	if err != nil {
		return err
	}
	for _, conflict := range done.Conflicts {
		c.Note("CONFLICT: %s", conflict)
	}
	if len(done.Conflicts) > 0 {
		c.Note("The signer is frozen: find out who signed the other, before the thaw.")
	}
	return c.Done(Facts{"instance": done.From.Instance, "entry": done.From.Entry, "flows": done.Flows,
		"merged": done.Merged, "conflicts": len(done.Conflicts)},
		"Merged the state of instance %s up to entry %d: %d transactions were not known here, %d were.", done.From.Instance,
		done.From.Entry, done.Flows, done.Merged)
}
