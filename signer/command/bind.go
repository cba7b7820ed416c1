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
	Acting
}

// Help returns an example.
func (signerBindCommand) Help() string {
	return "Makes a counter in the TPM of this machine (signer.tpm), which the signer raises with each entry of its " +
		"log. An older copy of the state is then noticed by the signer itself, whatever the service says, and so is a " +
		"second signer on a copy. Stop the signer first. `bursar signer begin-again` is the way out of a state that was " +
		"set back, and with --without-counter that of a TPM that was lost.\n\nExample:\n\n" +
		"    bursar signer bind --reason 'restores are to be noticed'"
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
