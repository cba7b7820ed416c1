package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
)

// Serve runs the signer of a configuration as a separate process until ctx ends. It opens the seed with open, and
// listens for the service.
func Serve(
	ctx context.Context, cfg config.Config, open func(config.Config) (*signer.Keys, error), log *slog.Logger,
) (err error) {
	keys, err := open(cfg)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	registry, err := Usable(cfg)
	if err != nil {
		return err
	}
	keeper, err := OpenMemory(ctx, cfg, keys.Fingerprint(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Close()) }()
	if err := AgreeEpochs(ctx, cfg, keeper, keys, log); err != nil {
		return err
	}
	if err := AgreeWitness(ctx, cfg, keeper, keys, log); err != nil {
		return err
	}
	parts, err := Connector{Network: cfg.Network, Keys: keys, Registry: registry, Log: log}.all(ctx, cfg)
	if err != nil {
		return err
	}
	WarnOfLimits(cfg, log)
	if err := SayNoticedBy(ctx, cfg, keeper, log); err != nil {
		return err
	}
	signs, err := signer.NewWithMemory(ctx, keys, Policies(parts, registry, cfg.Network), keeper)
	if err != nil {
		return fmt.Errorf("prepare the signer: %w", err)
	}
	signs.AwaitHalts()
	if cfg.Signer.PolicyRequired {
		signs.RequirePolicy()
	}
	if cfg.Signer.OrdersRequired {
		signs.RequireOrders()
	}
	if cfg.FreezeOnSpend() {
		signs.FreezeOnSpends()
	}
	Arm(ctx, signs, log)
	exported, err := keys.Export()
	if err != nil {
		return fmt.Errorf("prepare the signer: %w", err)
	}
	address := Address(cfg)
	address.Refused = func(reason string) { log.Warn("connection refused", "reason", reason) }
	listener, err := address.Listen(ctx)
	if err != nil {
		return err
	}
	log.Info("signer listening", "address", cfg.Signer.Address, "fingerprint", keys.Fingerprint(), "chains", len(parts))
	server := remote.Server{Signer: signs, KeyExport: exported, Marks: marks.NewFile(MarksFile(cfg)), Log: log}
	return errors.Join(server.Run(ctx, listener), signs.FlushRefusals(context.WithoutCancel(ctx), true))
}
