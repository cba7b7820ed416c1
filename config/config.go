// Package config reads the configuration: a YAML file, overridden by the environment.
//
// It owns the names of the keys, their allowed values and their defaults. It opens nothing but the file: whether a node
// or a database answers is not checked, and a token's contract is kept as written, because only the chain's adapter
// knows its canonical form. Its invariants: a Config it returns has no mistake that can be found without a request; an
// amount is parsed from its digits and never through a float; a URL, which may contain a password, appears in no error
// and is never printed.
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

// DefaultFile is the configuration file if none is named.
const DefaultFile = "bursar.yaml"

const maxFile = 1 << 20 // bytes

// Network is which of the chains' networks is used.
type Network = chain.Network

// The networks. On Regtest chains are private: any configured chain ID and genesis is accepted.
const (
	Mainnet = chain.Mainnet
	Testnet = chain.Testnet
	Regtest = chain.Regtest
)

// Failover is what the operator knows of a failover of the database.
type Failover string

// The failovers. A synchronous failover loses no acknowledged commit: Patroni's synchronous_mode guarantees that. After
// an unknown one, lost commits are assumed.
const (
	FailoverUnknown     Failover = "unknown"
	FailoverSynchronous Failover = "synchronous"
)

// Config is a checked configuration. Printing, logging or encoding it shows no URL.
type Config struct {
	Listen      string  // host:port of the API
	AdminListen string  // host:port of metrics and the console; empty: not served
	Console     Console // the operator's console
	AdminPprof  bool    // the admin address serves Go's profiles too
	TLS         TLS     // of Listen
	Admin       Admin   // who may use AdminListen
	Database    Secret  // "sqlite:<file>" or "postgres://…"
	Failover    Failover
	Lease       time.Duration // how long a replica keeps a chain lease without hearing from the database
	Network     Network
	SeedFile    string
	Chains      map[bursar.ChainID]ChainConfig
	Registry    *bursar.Registry               // every known currency, including unusable ones
	Off         map[bursar.CurrencyCode]string // the currencies that cannot be used, with reasons
	Webhooks    Webhooks
	Signer      Signer
	Limits      Limits

	Bands map[bursar.CurrencyCode][]Band // how many persons approve what moves money; none: one

	Withdrawals  Withdrawals
	Rates        Rates
	Prices       Prices
	Screening    Screening
	Pay          Pay
	Notices      Notices
	RequestLog   time.Duration // how long requests are kept in their log; 0: there is none
	PollInterval time.Duration // of every chain; 0: each chain's own pace

	Proxies        []netip.Prefix // trusted proxies
	ProxyHeader    string         // the header with the client's address: XForwardedFor or Forwarded
	ClientNetworks []netip.Prefix // the only networks that clients may connect from; empty: all

	databaseEnv []string // the variables that the driver of Database reads

	places map[string]place // by path: the place of each value of the file and the environment
}

// Webhooks configures where webhooks may be sent.
type Webhooks struct {
	AllowNetworks []netip.Prefix // networks that webhooks may be sent to besides public addresses
	AllowHTTP     bool           // new URLs may be http
}

// Load reads the file at path and the overriding variables of an environment in the form of os.Environ. A missing file
// is an error that wraps fs.ErrNotExist; any mistake inside is a Mistakes.
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

// missingError is the error of a missing file, with what to do about it.
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

// Parse is Load for a text in memory. Errors contain the name, and relative paths are relative to its folder.
func Parse(name string, text []byte, env []string) (Config, error) {
	r := &reader{name: name, env: env}
	root := r.tree(text)
	r.overlay(root, env)
	cfg := r.config(root)
	cfg.databaseEnv = driverVariables(env)
	cfg.places = map[string]place{}
	root.rememberPlaces(cfg.places)
	if err := r.mistakes.err(); err != nil {
		return Config{}, err
	}
	return cfg, nil
}
