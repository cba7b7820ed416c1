package command

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/proof"
)

// Audit is the commands about the signer's log.
type Audit struct {
	Checkpoint signerCheckpointCommand `cmd:"" help:"Sign how much the signer's log holds now."`
	Verify     signerVerifyCommand     `cmd:"" help:"Check that the log still contains a checkpoint, or check a proof."`
	Prove      signerProveCommand      `cmd:"" help:"Prove that an entry is in the log."`
	List       signerListCommand       `cmd:"" help:"List what the signer's log says, of this signer or of an export."`
	Export     signerLogExportCommand  `cmd:"" help:"Write the signer's log into a file that can be verified elsewhere."`
}

type signerCheckpointCommand struct {
	Since *int64 `placeholder:"N" help:"Print a request to a witness that saw so many entries last; 0: it saw none."`
}

// Help returns an example.
func (signerCheckpointCommand) Help() string {
	return "Prints a note with the size of the log and the root of the Merkle tree over its entries, signed with a key " +
		"that comes from the seed, and on standard error the key to verify it with. Give both to somebody who keeps them: " +
		"no earlier entry can be changed then without being noticed. With --since it prints what `bursar audit witness " +
		"cosign`, or another witness of transparency logs (c2sp.org/tlog-witness), is asked with.\n\nExample:\n\n" +
		"    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar audit checkpoint > november.txt"
}

// Run prints a checkpoint.
func (cmd *signerCheckpointCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	name := proof.Name(keys.Fingerprint())
	key, err := proof.Key(name, keys.LogKey())
	if err != nil {
		return err
	}
	return c.signerState(ctx, func(file *memory.File) error {
		tree, err := proof.Read(ctx, file)
		if err != nil {
			return err
		}
		signed, err := tree.Checkpoint(name, key, keys.SignNote)
		if err != nil {
			return err
		}
		if cmd.Since != nil {
			if signed, err = tree.Request(*cmd.Since, signed, key); err != nil {
				return err
			}
		}
		c.Note("Entries: %d. The key is %s", tree.Size(), key)
		_, err = fmt.Fprint(c.Stdout, signed)
		return err
	})
}

// logKey is the key that checkpoints are verified with.
type logKey struct {
	Key string `placeholder:"KEY" help:"The key that bursar audit checkpoint printed."`
}

type signerVerifyCommand struct {
	File string `arg:"" optional:"" placeholder:"FILE" help:"A checkpoint, an export, or a proof. Default: the log itself."`
	logKey
	Witness string `placeholder:"KEY" help:"The key of a witness that must have cosigned the checkpoint."`
	Acting
}

// Help returns an example.
func (signerVerifyCommand) Help() string {
	return "Without a file it checks that every entry of this signer's log follows from the one before. Of a checkpoint " +
		"it checks that the log of this signer still contains it: that nothing before it was changed, " +
		"removed or put in between. Of a proof it checks the entry, and prints it, and of an export that it is whole; " +
		"these need neither the signer nor its state.\n\nExample:\n\n    " +
		"bursar audit verify november.txt --key 'bursar-signer-log/5c1e+3f2a9b10+AXu0...'"
}

// Run checks a checkpoint or a proof.
func (cmd *signerVerifyCommand) Run(ctx context.Context, c *Call) error {
	if cmd.File == "" {
		return c.verifyLog(ctx)
	}
	if cmd.Key == "" {
		return errNoKey
	}
	is, err := isExport(cmd.File)
	switch {
	case err != nil:
		return err
	case is && cmd.Witness != "":
		return Wrong("--witness: a witness cosigns checkpoints, and %s is an export", cmd.File)
	case is:
		return c.verifyExport(cmd.File, cmd.Key)
	}
	content, err := os.ReadFile(cmd.File)
	if err != nil {
		return fmt.Errorf("read what is to be checked: %w", err)
	}
	if cmd.Witness == "" {
		return c.verifyFile(ctx, string(content), cmd.Key)
	}
	at, err := witnessed(string(content), cmd.Witness)
	if err != nil {
		return err
	}
	if err := c.verifyFile(ctx, string(content), cmd.Key); err != nil {
		return err
	}
	return c.Say("the witness cosigned the checkpoint at %s", Moment(at))
}

// verifyFile checks a checkpoint or a proof.
func (c *Call) verifyFile(ctx context.Context, content, key string) error {
	if strings.HasPrefix(content, "bursar-log-proof/") {
		e, err := proof.Verify(content, key)
		if err != nil {
			return err
		}
		return c.Say("entry %d of %s: %s %s", e.Number, Moment(e.At), e.Kind, Cell(e.Detail))
	}
	return c.signerState(ctx, func(file *memory.File) error {
		tree, err := proof.Read(ctx, file)
		if err != nil {
			return err
		}
		size, err := tree.Contains(content, key)
		if err != nil {
			return err
		}
		return c.Say("the log holds %d entries, and the %d of the checkpoint are unchanged", tree.Size(), size)
	})
}

// errNoKey says that a key is needed.
var errNoKey = Wrong("--key is needed: the one that bursar audit checkpoint printed")

// witnessed checks that a witness cosigned a checkpoint, or that of a proof.
func witnessed(content, key string) (time.Time, error) {
	if strings.HasPrefix(content, "bursar-log-proof/") {
		_, content, _ = strings.Cut(content, "\n\n")
	}
	return proof.Witnessed(content, key)
}

// verifyLog checks the log of this signer alone.
func (c *Call) verifyLog(ctx context.Context) error {
	return c.signerState(ctx, func(file *memory.File) error {
		head, err := memory.Verify(ctx, file)
		if err != nil {
			return err
		}
		return c.Say("the log holds %d entries, of which each follows from the one before; the last is of %s", head.Number,
			Moment(head.At))
	})
}

type signerProveCommand struct {
	Entry      string `arg:"" placeholder:"ENTRY" help:"Number of the entry, or the ID of an order or an outgoing transaction."`
	Checkpoint string `required:"" placeholder:"FILE" help:"A checkpoint that has the entry."`
	logKey
}

// Help returns an example.
func (signerProveCommand) Help() string {
	return "Of an order it proves the newest entry that allowed it. Prints the entry with its proof and the checkpoint, " +
		"for somebody who has the key.\n\nExample:\n\n    bursar signer " +
		"audit prove 17 --checkpoint november.txt --key 'bursar-signer-log/5c1e+3f2a9b10+AXu0...' > payment.txt"
}

// Run prints a proof.
func (cmd *signerProveCommand) Run(ctx context.Context, c *Call) error {
	if cmd.Key == "" {
		return errNoKey
	}
	signed, err := os.ReadFile(cmd.Checkpoint)
	if err != nil {
		return fmt.Errorf("read the checkpoint: %w", err)
	}
	return c.signerState(ctx, func(file *memory.File) error {
		tree, err := proof.Read(ctx, file)
		if err != nil {
			return err
		}
		number, err := cmd.number(tree)
		if err != nil {
			return err
		}
		text, err := tree.Prove(number, string(signed), cmd.Key)
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(c.Stdout, text)
		return err
	})
}

// number returns which entry is meant: the newest that names an ID.
func (cmd *signerProveCommand) number(tree *proof.Tree) (int64, error) {
	if number, err := strconv.ParseInt(cmd.Entry, 10, 64); err == nil {
		return number, nil
	}
	id, err := bursar.ParseID(cmd.Entry)
	if err != nil {
		return 0, Wrong("%q is neither the number of an entry nor an ID", cmd.Entry)
	}
	number := tree.Newest(func(e memory.Entry) bool {
		return e.Kind == memory.KindSigned && strings.Contains(e.Detail, `"`+id.String()+`"`)
	})
	if number == 0 {
		return 0, fmt.Errorf("%w: nothing was signed for %s", proof.ErrMissing, id)
	}
	return number, nil
}
