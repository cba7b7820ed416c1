package service

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/tlsfile"
)

// Options is what a service needs besides its configuration.
type Options struct {
	Log    *slog.Logger
	Getenv func(string) string // reads the passphrase's variables; nil: os.Getenv
	// OpenKeys opens the seed; nil: host.OpenKeys with Getenv.
	OpenKeys func(cfg config.Config) (*signer.Keys, error)
	// Patient waits for a remote signer that is unreachable; otherwise that is an error.
	Patient bool
	// WithoutSigner is for a command beside a running service: the signer of this process signs nothing, and its memory
	// stays with the one that runs.
	WithoutSigner bool
	// Rehearsing is for a command that changes nothing: a database with an older schema is refused, not migrated.
	Rehearsing bool
	// Ahead is how far this service's clock is ahead of the machine's: that of a sandbox is moved. nil: not at all.
	Ahead func() time.Duration
}

// clock returns the service's clock, nil for the machine's.
func (o Options) clock() func() time.Time {
	if o.Ahead == nil {
		return nil
	}
	return func() time.Time { return time.Now().Add(o.Ahead()) }
}

// Open opens the database and the seed, or connects to the remote signer that has it, and assembles the service of a
// configuration; it asks no node. It refuses a wrong passphrase, and a seed or a network that the database was not
// created with. Close closes what it opened.
func Open(ctx context.Context, cfg config.Config, opts Options) (*Service, error) {
	opts = opts.withDefaults()
	keys, signs, err := openKeys(ctx, cfg, opts)
	if err != nil {
		return nil, err
	}
	parts, closers := Parts{Keys: keys, Signer: signs, Log: opts.Log, Ahead: opts.Ahead}, []func() error{}
	parts.TestHooks.Clock, parts.KeysFromFile = opts.clock(), cfg.Signer.WatchOnly != ""
	if signs == nil && opts.WithoutSigner {
		parts.Signer = noSigner{}
	} else if signs == nil {
		file, err := host.OpenMemory(ctx, cfg, keys.Fingerprint(), opts.Log)
		if err != nil {
			return nil, err
		}
		closers = append(closers, file.Close)
		if err := errors.Join(host.AgreeEpochs(ctx, cfg, file, keys.(*signer.Keys), opts.Log),
			host.AgreeWitness(ctx, cfg, file, keys.(*signer.Keys), opts.Log),
			host.SayNoticedBy(ctx, cfg, file, opts.Log)); err != nil {
			return nil, closeAll(err, closers)
		}
		host.WarnOfLimits(cfg, opts.Log)
		parts.Memory = file
	}
	at := store.Config{URL: cfg.Database.Reveal(), Now: opts.clock(), AsIs: opts.Rehearsing}
	if parts.DB, err = store.Open(ctx, at); err != nil {
		return nil, closeAll(err, closers)
	}
	closers = append(closers, parts.DB.Close)
	s, err := open(ctx, cfg, opts, parts)
	if err != nil {
		return nil, closeAll(err, closers)
	}
	s.close = append(s.close, closers...)
	return s, nil
}

// closeAll closes what was opened before an error.
func closeAll(err error, closers []func() error) error {
	for _, f := range closers {
		err = errors.Join(err, f())
	}
	return err
}

// openKeys opens the seed of this process, or imports the public keys of a watch-only file or of a remote signer; in
// the last two cases it returns a signer too.
func openKeys(ctx context.Context, cfg config.Config, opts Options) (Keys, outgoing.Signer, error) {
	if cfg.Signer.WatchOnly != "" {
		return openWatchOnly(ctx, cfg, opts.Log)
	}
	if cfg.Signer.Remote() {
		keys, err := openRemoteSigner(ctx, cfg, opts.Patient, opts.Log)
		if err != nil {
			return nil, nil, err
		}
		return keys, keys, nil
	}
	if opts.WithoutSigner {
		if keys, err := keysOfCommands(cfg, opts.Log); keys != nil || err != nil {
			return keys, nil, err
		}
	}
	keys, err := opts.OpenKeys(cfg)
	if err != nil {
		return nil, nil, err
	}
	return keys, nil, nil
}

// KeysOf returns the keys of a configuration for a command: those of the seed, or of the remote signer that has it.
func KeysOf(ctx context.Context, cfg config.Config, opts Options) (Keys, error) {
	keys, _, err := openKeys(ctx, cfg, opts.withDefaults())
	return keys, err
}

// open adds what is configured to the parts, and assembles them.
func open(ctx context.Context, cfg config.Config, opts Options, parts Parts) (*Service, error) {
	if err := pin(ctx, parts.DB, cfg, parts.Keys); err != nil {
		return nil, err
	}
	registry, err := host.Usable(cfg)
	if err != nil {
		return nil, err
	}
	machine, _ := os.Hostname()
	parts.Holder = fmt.Sprintf("%s/%d/%s", machine, os.Getpid(), bursar.NewIDs(parts.DB.Now, nil).Next())
	parts.Registry, parts.Allowed, parts.Pace = registry, cfg.Webhooks.AllowNetworks, cfg.PollInterval
	parts.HTTPSOnly = !cfg.Webhooks.AllowHTTP
	parts.Network, parts.Marks = cfg.Network, keeperOf(cfg, parts.Keys)
	parts.LeaseTTL, parts.PolicyRequired = cfg.Lease, cfg.Signer.PolicyRequired
	parts.OrdersRequired = cfg.Signer.OrdersRequired
	parts.FreezeOnSpend = cfg.FreezeOnSpend()
	parts.SynchronousFailover = cfg.Failover == config.FailoverSynchronous
	parts.Listen, parts.AdminListen, parts.AdminPprof = cfg.Listen, cfg.AdminListen, cfg.AdminPprof
	if parts.Pay, err = payOf(cfg.Pay); err != nil {
		return nil, err
	}
	parts.Console = cfg.Console
	parts.TLS, parts.Admin = tlsfile.Files(cfg.TLS), adminOf(cfg.Admin)
	parts.Settings = settingsOf(cfg)
	parts.Rates = ratesOf(cfg, parts.DB.Now, opts.Log)
	parts.Prices = pricesOf(cfg, parts.DB.Now, opts.Log)
	parts.Screening = screeningOf(cfg.Screening)
	parts.Approvers = cfg.Approvers
	parts.Notifier = NewNotifier(cfg.Notices)
	parts.RateLimits, parts.DestinationHold = rateLimits(cfg), cfg.Withdrawals.DestinationHold
	parts.RequestLog = cfg.RequestLog
	parts.Proxies, parts.ProxyHeader, parts.ClientNetworks = cfg.Proxies, cfg.ProxyHeader, cfg.ClientNetworks
	err = host.OwnersOnly(cfg.Network, opts.Log, append(noticeSecrets(cfg.Notices), cfg.TLS.Key, cfg.Admin.TLS.Key,
		cfg.Admin.PasswordFile)...)
	if err != nil {
		return nil, err
	}
	c := connector{network: cfg.Network, keys: parts.Keys, registry: registry, pace: cfg.PollInterval, log: opts.Log}
	if parts.Chains, err = c.all(ctx, cfg); err != nil {
		return nil, err
	}
	s, err := New(parts)
	if err != nil {
		return nil, err
	}
	return s, s.Pool.Verify(ctx)
}

// pin binds the database to the seed, to the key with which its signer signs entries of its log, to the public keys of
// each family, and to the network: with another seed, addresses would be issued that this service cannot spend from.
// The fingerprint does not depend on the public keys, which a service without the seed is given by others.
func pin(ctx context.Context, db *store.DB, cfg config.Config, keys Keys) error {
	err := db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Settings().Pin(ctx, "seed", keys.Fingerprint()); err != nil {
			return err
		}
		if err := tx.Settings().Pin(ctx, "signer_desk", hex.EncodeToString(keys.LogKey())); err != nil {
			return err
		}
		if err := tx.Settings().Pin(ctx, "network", string(cfg.Network)); err != nil {
			return err
		}
		digests := keys.Digests()
		for _, family := range slices.Sorted(maps.Keys(digests)) {
			if err := tx.Settings().Pin(ctx, "public_keys:"+string(family), digests[family]); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrMismatch) {
		return fmt.Errorf("%w: use the seed_file or signer.watch_only, and the network, that this database was created "+
			"with, or another database", err)
	}
	return err
}
