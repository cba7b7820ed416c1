package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
)

type signerBindCommand struct {
	Begin
	Seen int64 `required:"" placeholder:"NUMBER" help:"Newest entry of its log that the service or witness saw; 0: none."`
	Acting
}

// Help returns an example.
func (signerBindCommand) Help() string {
	return "Makes a counter in the TPM of this machine (signer.tpm), which the signer raises with each entry of its " +
		"log. An older copy of the state is then noticed by the signer itself, whatever the service says, and so is a " +
		"second signer on a copy. Stop the signer first. A state without the entry --seen is an older copy already, and is " +
		"not bound: `bursar doctor` of the service says which entry it has seen, and the witness's file of cosigned " +
		"checkpoints has one in its second line. `bursar signer begin-again` is the way out of a state that was " +
		"set back, and with --without-counter that of a TPM that was lost.\n\nExample:\n\n" +
		"    bursar signer bind --seen 1204 --reason 'restores are to be noticed'"
}

// Run binds the signer's state to a counter.
func (cmd *signerBindCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	now, err := c.begin(cfg, false)
	if err != nil {
		return err
	}
	bound, err := c.boundTo(ctx, cfg)
	if err == nil {
		err = c.holdsSeen(ctx, cfg, cmd.Seen)
	}
	if err == nil && bound != nil {
		err = errors.New("the state is bound to a counter already: `bursar signer begin-again` ends that")
	}
	if err != nil {
		return err
	}
	if err := host.BindCounter(ctx, cfg, now, cmd.Name(), cmd.Reason); err != nil {
		return err
	}
	if bound, err = c.boundTo(ctx, cfg); err != nil {
		return err
	}
	return c.Done(Facts{"counter": bound.Name()}, "The signer's state is bound to the counter %s.", bound.Name())
}

// errOlder is returned where a state is to be bound that lacks an entry which somebody has seen.
var errOlder = errors.New("the state is an older copy: put the newest back, or `bursar signer begin-again`")

// holdsSeen refuses a state whose log ends before an entry that somebody has seen.
//
// The attack: an older copy of the state is put in its place before it is bound to a counter, which then says of that
// copy that it is the newest. What was signed since is forgotten for good, and counts in no limit.
func (c *Call) holdsSeen(ctx context.Context, cfg config.Config, seen int64) (err error) {
	if seen < 0 {
		return Wrong("--seen: %d is no number of an entry", seen)
	}
	file, err := memory.Join(ctx, host.StateFile(cfg))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	head, err := memory.Verify(ctx, file)
	if err == nil && head.Number < seen {
		err = fmt.Errorf("its newest entry is %d, and %d was seen: %w", head.Number, seen, errOlder)
	}
	return err
}

// boundTo returns the counter that the state is bound to; nil: none.
func (c *Call) boundTo(ctx context.Context, cfg config.Config) (counter memory.Counter, err error) {
	file, err := memory.Join(ctx, host.StateFile(cfg))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	name, err := file.Bound(ctx)
	if err != nil || name == "" {
		return nil, err
	}
	if counter, err = host.Counter(cfg)(name); err != nil {
		return nil, fmt.Errorf("%w: %w", memory.ErrCounter, err)
	}
	return counter, nil
}
