package service

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"os"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
)

// Keys is what the service knows of the seed: all of it, or the public keys that a remote signer exports.
type Keys interface {
	Public(ref chain.KeyRef) (chain.PublicKey, error)
	WebhookSecret(account bursar.ID, generation uint32) []byte
	BooksKey() []byte
	Fingerprint() string
	Epoch() chain.Epoch        // has the hot wallet and all new addresses
	LogKey() ed25519.PublicKey // verifies what the signer says of its log
	Digests() map[bursar.Family]string
}

// signsHere creates the signer of this process, unless the signer is remote.
func (p *Parts) signsHere() (err error) {
	if p.Signer != nil {
		return nil
	}
	seed, whole := p.Keys.(*signer.Keys)
	if !whole {
		return errors.New("this process has only public keys: set signer.address")
	}
	if p.Memory == nil {
		p.Memory = memory.NewRAM()
	}
	allowed := p.TestHooks.policies(policies(p.Chains, p.Registry, p.Network))
	signs, err := signer.NewWithMemory(context.Background(), seed, allowed, p.Memory)
	if err != nil {
		return err
	}
	if p.PolicyRequired {
		signs.RequirePolicy()
	}
	if p.OrdersRequired {
		signs.RequireOrders()
	}
	if p.FreezeOnSpend {
		signs.FreezeOnSpends()
	}
	p.Signer = signs
	return nil
}

// armSigner makes the signer of this process freeze when it has to, if it has one that remembers.
func (s *Service) armSigner(ctx context.Context) {
	signs, here := s.parts.Signer.(*signer.Signer)
	if _, durable := s.parts.Memory.(*memory.File); here && durable {
		host.Arm(ctx, signs, s.log)
	}
}

// policies returns what may be signed on each chain.
func policies(
	parts []ChainPart, registry *bursar.Registry, network config.Network,
) map[bursar.ChainID]signer.Bounds {
	list := make([]host.Part, len(parts))
	for i, p := range parts {
		list[i] = host.Part{Chain: p.Chain, MaxFee: p.MaxFee, MaxRate: p.MaxRate, Fees: p.Fees, Transfers: p.Transfers,
			Withdrawals: p.Withdrawals, MaxFeePercent: p.MaxFeePercent, ToCold: p.ToCold, Cold: p.Cold}
	}
	return host.Policies(list, registry, network)
}

// noSigner is the signer of a command, which must not sign: the running signer has the lock of its memory.
type noSigner struct{}

// Sign implements outgoing.Signer.
func (noSigner) Sign(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx, error) {
	return chain.SignedTx{}, errors.New("this process does not sign")
}

// absentSigner is the signer of a service that runs with a watch-only file alone. The gate holds back what needs one.
type absentSigner struct{}

// errNoSigner is why nothing is signed without a signer.
var errNoSigner = errors.New("no signer is configured: set signer.address")

// Sign implements outgoing.Signer.
func (absentSigner) Sign(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx, error) {
	return chain.SignedTx{}, errNoSigner
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.OpenKeys == nil {
		o.OpenKeys = func(cfg config.Config) (*signer.Keys, error) { return host.OpenKeys(cfg, o.Getenv) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
