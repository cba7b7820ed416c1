package command

import (
	"context"

	"github.com/bursar/bursar/signer/host"
)

// Signer is the commands of the signer.
type Signer struct {
	Run          signerCommand             `cmd:"" name:"run" aliases:"serve" default:"withargs" hidden:""`
	Init         signerInitCommand         `cmd:"" help:"Create the file in which the signer remembers what it signed."`
	Status       signerStatusCommand       `cmd:"" help:"Show the signer's state and check its log."`
	Policy       signerPolicyCommands      `cmd:"" help:"Print limits, and show, compare and test the policy that people signed."`
	Apply        signerApplyCommand        `cmd:"" help:"Apply a policy, a destination, a client's key, a freeze or a thaw that people signed."`
	Freeze       signerFreezeCommand       `cmd:"" help:"Sign nothing from now on, also after a restart."`
	Thaw         signerThawCommand         `cmd:"" help:"End every freeze of the signer."`
	Compromise   signerCompromiseCommands  `cmd:"" help:"Prepare, drill and use the order that moves everything to cold wallets."`
	Destinations signerDestinationsCommand `cmd:"" help:"List the destinations that people signed."`
	OrderKey     signerOrderKeyCommands    `cmd:"" name:"order-key" help:"Show and change the keys with which clients sign orders."`
	BeginAgain   signerBeginAgainCommand   `cmd:"" name:"begin-again" help:"Declare the signer's state incomplete."`
	Bind         signerBindCommand         `cmd:"" help:"Bind the signer's state to a counter in the TPM, so that an older copy is noticed."`
	Export       signerExportCommand       `cmd:"" help:"Write what the signer's state forbids and counts."`
	Import       signerImportCommand       `cmd:"" help:"Merge what another state forbids and counts."`
	BeginEpoch   signerBeginEpochCommand   `cmd:"" name:"begin-epoch" help:"Let the seed of the next epoch take over the hot wallet and all new addresses."`
}

type signerCommand struct {
	LogFlags
}

// Help says how the two processes share the configuration.
func (signerCommand) Help() string {
	return "Holds the seed and signs for `bursar serve`, which then runs without the seed: as another user, or on " +
		"another machine. Both read signer.address of the configuration. The signer reads seed_file, chains and " +
		"currencies too, and checks every transaction against its own file: its max_fee and limits cannot be raised " +
		"from outside. It remembers in signer.state what it signed. It needs no node and no database; on private EVM " +
		"chains it needs chain_id.\n\nExample:\n\n    " +
		"BURSAR_PASSPHRASE_FILE=/run/passphrase bursar signer --config signer.yaml"
}

// Run signs until ctx ends.
func (cmd *signerCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	if cfg.Signer.Address == "" {
		return Wrong("signer.address is not configured: set the address to listen on, such as signer: {address: " +
			"unix:/run/bursar/signer.sock}, here and for `bursar serve`")
	}
	log := cmd.Logger(c.Stderr)
	if err := c.Protect(cfg, log); err != nil {
		return err
	}
	if err := host.Serve(ctx, cfg, c.OpenKeys(ctx), log); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}
