package command

import (
	"context"
	"errors"
	"log/slog"

	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
)

type signerBeginEpochCommand struct {
	Number uint32 `arg:"" help:"The epoch: 1 for the first seed that follows, then 2 and so on."`
	Begin
	Confirmed
}

// Help returns an example.
func (signerBeginEpochCommand) Help() string {
	return "From then on the seed of this epoch, which `bursar seed new --epoch` made, has the hot wallet and all new " +
		"addresses, and keys of the seeds before it sign only what brings all they have to the new hot wallet or to a cold " +
		"wallet. Addresses that were given out stay good. No epoch goes back. Stop the signer first, and start it " +
		"after it: running services hear of the epoch from it. A service that has the seed itself is stopped and " +
		"started in its place; where people signed a policy, that must name the epoch. XRP stays with the first seed.\n\n" +
		"Example:\n\n    bursar signer begin-epoch 1 --reason 'the yearly rotation'"
}

// Run begins an epoch.
func (cmd *signerBeginEpochCommand) Run(ctx context.Context, c *Call) (err error) {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	keys, err := c.openKeys(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	file, err := memory.Open(ctx, host.StateFile(cfg), keys.Fingerprint())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Guard(ctx, host.Counter(cfg)); err != nil {
		return err
	}
	if err := host.AgreeEpochs(ctx, cfg, file, keys, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	e := host.Epoch(cmd.Number)
	if err := host.BeginEpoch(ctx, cfg, file, keys, e, cmd.Name(), cmd.Reason); err != nil {
		return err
	}
	fingerprint, err := keys.FingerprintOf(e)
	if err != nil {
		return err
	}
	return c.Done(Facts{"epoch": e, "fingerprint": fingerprint},
		"epoch %d has begun; its seed's fingerprint is %s. Start the signer: new addresses and the hot wallet are of that "+
			"seed. Running services hear of it; make signer.watch_only again where one has that", e, fingerprint)
}
