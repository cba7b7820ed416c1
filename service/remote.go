package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/remote"
)

// remoteSigner is the keys of a service whose signer is a remote process. It asks that process only for deposit keys of
// curves without public derivation, many at once: the pool takes them one after another.
type remoteSigner struct {
	*signer.WatchOnly
	client *remote.Client
	unmet  atomic.Bool // the keys are from a file, and were not compared with the signer's yet

	mu    sync.Mutex
	ahead map[chain.KeyRef]chain.PublicKey
}

// askAhead is the number of keys per request.
const askAhead = 1000

// keyTime bounds a request for keys.
const keyTime = time.Minute

// Public returns a key's public half, as signer.Keys.Public. The error is remote.ErrUnavailable while the signer is
// unreachable.
func (a *remoteSigner) Public(ref chain.KeyRef) (chain.PublicKey, error) {
	pub, err := a.WatchOnly.Public(ref)
	if !errors.Is(err, signer.ErrNeedsSeed) || ref.Branch != chain.DepositBranch {
		return pub, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if pub, found := a.ahead[ref]; found {
		return pub, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	if err := a.Meet(ctx); err != nil {
		return nil, err
	}
	keys, err := a.client.Publics(ctx, ref.Family, ref.Index, askAhead)
	if err != nil {
		return nil, err
	}
	a.ahead = map[chain.KeyRef]chain.PublicKey{} // keys that were not taken are not needed: the pool only moves forward
	for i, key := range keys {
		a.ahead[chain.KeyRef{Family: ref.Family, Branch: ref.Branch, Index: ref.Index + uint32(i)}] = key
	}
	return keys[0], nil
}

// openRemoteSigner connects to the signer of a configuration. If patient is set, it waits for an unreachable signer.
func openRemoteSigner(ctx context.Context, cfg config.Config, patient bool, log *slog.Logger) (*remoteSigner, error) {
	client, err := remote.Dial(host.Address(cfg))
	if err != nil {
		return nil, fmt.Errorf("reach the signer: %w", err)
	}
	for {
		exported, err := client.Hello(ctx)
		if err == nil {
			return newRemoteSigner(client, exported, cfg)
		}
		if !patient || !errors.Is(err, remote.ErrUnavailable) || ctx.Err() != nil {
			client.Close()
			return nil, fmt.Errorf("%w: run `bursar signer` at %s", err, cfg.Signer.Address)
		}
		log.Warn("waiting for remote signer", "address", cfg.Signer.Address, "error", err)
		sleep(ctx, 2*time.Second)
	}
}

func newRemoteSigner(client *remote.Client, exported signer.KeyExport, cfg config.Config) (*remoteSigner, error) {
	if want := host.Network(cfg.Network); exported.Public.Network != want {
		client.Close()
		return nil, fmt.Errorf("the signer's keys are for %s, but the configured network is %s", exported.Public.Network,
			cfg.Network)
	}
	keys, err := signer.FromKeyExport(exported)
	if err != nil {
		client.Close()
		return nil, fmt.Errorf("import the signer's public keys: %w", err)
	}
	return &remoteSigner{WatchOnly: keys, client: client}, nil
}

// HeardEpoch returns the epoch that the remote signer says is in force, and whether it said so; it is not proven.
func (a *remoteSigner) HeardEpoch() (e chain.Epoch, said bool) { return a.client.Epoch() }

// ProvenEpoch asks the remote signer which epoch is in force, and believes what the key of its log has signed.
func (a *remoteSigner) ProvenEpoch(ctx context.Context) (chain.Epoch, error) {
	exported, err := a.client.Hello(ctx)
	return exported.Public.Epoch, err
}

// BegunEpochs returns who began which epoch, as the remote signer said it when it was met.
func (a *remoteSigner) BegunEpochs(ctx context.Context) ([]signer.BegunEpoch, error) {
	err := a.Meet(ctx)
	return a.client.Begun(), err
}

// SendHalts sends the halts to the remote signer.
func (a *remoteSigner) SendHalts(ctx context.Context, h signer.Halts) (known int64, err error) {
	return a.client.SendHalts(ctx, h)
}

// Checkpoint returns what was seen of the remote signer's log.
func (a *remoteSigner) Checkpoint() memory.Checkpoint { return a.client.Checkpoint() }

// Know notes what was seen of the remote signer's log.
func (a *remoteSigner) Know(seen memory.Checkpoint) error { return a.client.Know(seen) }

// Frozen returns why the remote signer signs nothing, as it said last.
func (a *remoteSigner) Frozen() (string, error) { return a.client.Frozen() }

// ThawsAt returns when the remote signer thaws, as it said last; zero: no thaw waits.
func (a *remoteSigner) ThawsAt() time.Time { return a.client.ThawsAt() }

// Policy returns the remote signer's policy.
func (a *remoteSigner) Policy(ctx context.Context) (signer.PolicyText, error) {
	return a.client.Policy(ctx)
}

// KnowPolicy notes which policy was in force with the remote signer's seed.
func (a *remoteSigner) KnowPolicy(ctx context.Context, claim signer.PolicyClaim) error {
	return a.client.KnowPolicy(ctx, claim)
}

// Sign asks the remote signer to sign.
func (a *remoteSigner) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if err := a.Meet(ctx); err != nil {
		return chain.SignedTx{}, err
	}
	return a.client.Sign(ctx, id, request, unsigned)
}
