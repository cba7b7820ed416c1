package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
)

type signerInitCommand struct {
	Unused bool `help:"The limits begin unused, because nothing was ever signed with this seed, or because you know what was."`
	Acting
}

// Help returns an example.
func (signerInitCommand) Help() string {
	return "Creates signer.state, the file in which the signer remembers what it signed; it is never overwritten. " +
		"Without --unused something may have been signed before, so each window of the limits counts as used up until it " +
		"has passed: an hour for hourly limits, a week for weekly ones. `bursar seed new` creates the file too; the signer " +
		"itself creates one where it finds none.\n\nExample:\n\n    BURSAR_PASSPHRASE_FILE=/run/passphrase bursar signer init"
}

// Run creates the signer's state.
func (cmd *signerInitCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	begin, err := c.begin(cfg, !cmd.Unused)
	if err != nil {
		return err
	}
	if err := memory.Create(ctx, host.StateFile(cfg), begin); err != nil {
		return err
	}
	if cfg.Signer.CounterRequired {
		if err := host.BindCounter(ctx, cfg, begin, Actor{}.Name(), "the state was created"); err != nil {
			return err
		}
	}
	c.Note("The signer's state is %s.", host.StateFile(cfg))
	return nil
}

// begin returns what the state of a configuration's signer begins with.
func (c *Call) begin(cfg config.Config, cold bool) (memory.Init, error) {
	keys, err := c.openKeys(cfg)
	if err != nil {
		return memory.Init{}, err
	}
	defer keys.Wipe()
	return memory.Init{Fingerprint: keys.Fingerprint(), At: time.Now(), Cold: cold}, nil
}

type signerBeginAgainCommand struct {
	Unused         bool `help:"Start with unused limits: confirm that you know all that was signed and that nobody else used the keys."`
	WithoutCounter bool `help:"Bind the state to no counter any more, because its TPM is lost or was cleared."`
	Begin
	Confirmed
}

// Help returns an example.
func (signerBeginAgainCommand) Help() string {
	return "Declares the signer's state incomplete: after an older copy of it was put back, or after the clock was far " +
		"ahead. What it remembers stays. It gets a new instance, the present time, and each window of the limits counts as " +
		"used up until it has passed, unless --unused is given, which also ends such a wait. A state that is bound to a " +
		"counter in the TPM counts on from what that holds. Stop the signer first.\n\nExample:\n\n" +
		"    bursar signer begin-again --reason 'the disk was restored from Monday'"
}

// Run begins the signer's state again.
func (cmd *signerBeginAgainCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	begin, err := c.begin(cfg, !cmd.Unused)
	if err != nil {
		return err
	}
	counter, err := c.boundTo(ctx, cfg)
	if err == nil && counter != nil && !cmd.WithoutCounter {
		if _, err = counter.Value(ctx); err != nil { // before anything is changed
			err = fmt.Errorf("%w; --without-counter binds the state to none", err)
		}
	}
	if err != nil {
		return err
	}
	if err := memory.BeginAgain(ctx, host.StateFile(cfg), begin, cmd.Name(), cmd.Reason); err != nil {
		return err
	}
	if counter != nil {
		if cmd.WithoutCounter {
			counter = nil
		}
		if err := memory.Bind(ctx, host.StateFile(cfg), begin, counter, cmd.Name(), cmd.Reason); err != nil {
			return err
		}
	}
	if cmd.Unused {
		c.Note("The state has started again.")
		return nil
	}
	c.Note("The state has started again: hourly limits count as used up for an hour, daily ones for a day, weekly ones " +
		"for a week.")
	return nil
}

type signerFreezeCommand struct {
	Begin
	Acting
}

// Help returns an example.
func (signerFreezeCommand) Help() string {
	return "From then on this signer signs nothing, also after a restart, whatever the service says; `bursar signer " +
		"thaw` ends it. Once the command has returned, no signature leaves the signer any more. Run it on the signer's " +
		"machine, as its user, while the signer runs or not; it waits for no database. `bursar halt` stops payments from " +
		"the service's side.\n\nExample:\n\n" +
		"    bursar signer freeze --reason 'the service may be in other hands'"
}

// Run freezes the signer: with the marker file first, which needs no database, then in the state.
func (cmd *signerFreezeCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	path := host.StateFile(cfg)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", memory.ErrMissing, path)
	}
	if err := memory.Stop(path, memory.Freeze{At: time.Now().UTC(), Who: cmd.Name(), Why: cmd.Reason}); err != nil {
		return err
	}
	err = c.signerState(ctx, func(file *memory.File) error { return memory.Enter(ctx, file) })
	if errors.Is(err, memory.ErrOlder) {
		return fmt.Errorf("the signer is frozen from its next start on, but still signs: %w", err)
	}
	c.Note("The signer is frozen: it signs nothing until `bursar signer thaw`.")
	if err != nil {
		c.Note("Its log does not say so yet, which the signer's next start makes up for: %v", err)
	}
	return nil
}

type signerThawCommand struct {
	Begin
	Acting
}

// Help returns an example.
func (signerThawCommand) Help() string {
	return "Ends every freeze of the signer, at once. Where people signed a policy, its authors sign the thaw: see " +
		"`bursar-approve thaw`, and `bursar signer apply`; on mainnet it begins an hour later.\n\nExample:\n\n" +
		"    bursar signer thaw --reason 'the service was installed again'"
}

// Run thaws the signer.
func (cmd *signerThawCommand) Run(ctx context.Context, c *Call) error {
	return c.signerState(ctx, func(file *memory.File) error {
		if err := mayThaw(ctx, file); err != nil {
			return err
		}
		n, err := memory.Thaw(ctx, file, time.Now(), cmd.Name(), cmd.Reason)
		if err == nil && n == 0 {
			err = errors.New("the signer is not frozen")
		}
		if err == nil {
			c.Note("Freezes ended: %d. The signer signs again.", n)
		}
		return err
	})
}

// signerState opens the state of the signer of a configuration, beside a running signer.
func (c *Call) signerState(ctx context.Context, f func(file *memory.File) error) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	file, err := memory.Join(ctx, host.StateFile(cfg))
	if err != nil {
		return err
	}
	if err := file.Guard(ctx, host.Counter(cfg)); err != nil {
		c.Note("The counter of the state is not raised: %v", err)
	}
	return errors.Join(f(file), file.Close())
}
