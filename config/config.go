// Package config reads the configuration: a YAML file, and over it the environment.
//
// It owns what the keys are called, what they may hold and what stands in for those that are left out. It opens nothing
// but the file: whether a node or a database answers is not its business, and a token's contract is kept as it was
// written, since only the chain's adapter knows its canonical form. Its invariants: a Config it returns has no mistake
// that can be seen without asking anybody; an amount is read from its digits and never through a float; a URL, which
// may carry a password, appears in no error and is never printed.
//
// Every key has an environment variable: BURSAR_ and the path of the key in capitals, with an underscore for each dot
// and hyphen, as in BURSAR_LISTEN, BURSAR_CHAINS_BITCOIN_RPC (a list, with commas between) and
// BURSAR_CURRENCIES_USDT_MATIC_MINIMUM. A variable wins over the file; an empty one counts as not set. Relative paths
// are relative to the folder of the file, those of the environment to the current folder.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// DefaultFile is the configuration file where none is named.
const DefaultFile = "bursar.yaml"

const maxFile = 1 << 20 // bytes

// Network says which of the chains' networks are meant.
type Network = chain.Network

// The networks. On Regtest chains are private: any chain id and genesis is taken as configured.
const (
	Mainnet = chain.Mainnet
	Testnet = chain.Testnet
	Regtest = chain.Regtest
)

// Failover says what the operator knows of a failover of the database.
type Failover string

// The failovers. A synchronous one loses no commit that was acknowledged: Patroni's synchronous_mode promises that. Of
// an unknown one everything is reckoned with.
const (
	FailoverUnknown     Failover = "unknown"
	FailoverSynchronous Failover = "synchronous"
)

// Config is a checked configuration. Printing, logging or encoding it shows no URL.
type Config struct {
	Listen       string // host:port of the API
	AdminListen  string // host:port of metrics and the operator's dashboard; empty: not served
	Database     Secret // "sqlite:<file>" or "postgres://…"
	Failover     Failover
	Lease        time.Duration // how long a replica leads a chain without hearing from the database
	Network      Network
	SeedFile     string
	Chains       map[bursar.ChainID]ChainConfig
	Registry     *bursar.Registry               // every known currency, those that are off included
	Off          map[bursar.CurrencyCode]string // the currencies that cannot be used, and why
	Webhooks     Webhooks
	Signer       Signer
	Limits       Limits
	Withdrawals  Withdrawals
	Rates        Rates
	PollInterval time.Duration // of every chain; 0: each chain's own pace

	Proxies        []netip.Prefix // whose word is taken for who calls
	ProxyHeader    string         // where they say it: XForwardedFor or Forwarded
	ClientNetworks []netip.Prefix // the only ones that clients may come from; none: all

	places map[string]place // by path: where each value of the file and the environment stands
}

// Webhooks is what may be called.
type Webhooks struct {
	AllowNetworks []netip.Prefix // networks that may be dialled besides public addresses
}

// Load reads the file at path and, over it, the variables of an environment in the form of os.Environ. A file that does
// not exist is an error that wraps fs.ErrNotExist; whatever is wrong inside is a Mistakes.
func Load(path string, env []string) (Config, error) {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, missingError(path)
	}
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(path, text, env)
}

// missingError says what to do about a file that is not there.
type missingError string

func (path missingError) Error() string {
	return "the configuration file " + string(path) + " does not exist: create it, or name another one with --config"
}

func (missingError) Unwrap() error { return fs.ErrNotExist }

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return text, nil
}

// Parse is Load for a text that is there already. The name stands in its errors, and its folder is what relative paths
// are relative to.
func Parse(name string, text []byte, env []string) (Config, error) {
	r := &reader{name: name}
	root := r.tree(text)
	r.overlay(root, env)
	cfg := r.config(root)
	cfg.places = map[string]place{}
	root.rememberPlaces(cfg.places)
	if err := r.mistakes.err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}
