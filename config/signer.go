package config

import "strings"

// Signer is the address of the process with the seed. The zero Signer means that the service signs in its own process.
type Signer struct {
	Address string // "unix:<path>" or "https://host:port"
	CA      string // PEM files of https: the authority of both sides, and this side's certificate and key
	Cert    string
	Key     string

	// Clients are the names of the certificates with which a service may use the signer over https: DNS names,
	// addresses or common names. A signer needs them to listen.
	Clients []string
	// Users are the names or numbers of the users who may use the socket. Empty: those whom its file's rights allow.
	Users []string

	// LockMemory says whether the memory of the process with the seed must be kept out of swap. Empty: required on
	// mainnet, preferred elsewhere.
	LockMemory Lock

	// PolicyRequired makes a signer sign nothing while no policy is installed that people signed.
	PolicyRequired bool

	// OrdersRequired makes a signer pay nothing that neither a client signed nor persons approved.
	OrdersRequired bool

	// HaltsOnSpend leaves an external spend to the halt of its chain. Otherwise the signer freezes on mainnet, where
	// the service says that it saw one; elsewhere only with FreezesOnSpend.
	HaltsOnSpend, FreezesOnSpend bool

	// WatchOnly is the file of public keys with which a service runs without a seed; see signer.ReadWatchOnly. With an
	// Address besides it, the service does not wait for the remote signer. Without one, nothing is signed.
	WatchOnly string

	State string // the file in which a signer remembers what it signed; empty: in the folder of the seed file

	// Witness is the key of a witness in the form of package note, and Witnessed the file with the newest checkpoint of
	// the signer's log that it cosigned. Without that checkpoint in its log a signer does not start.
	Witness, Witnessed string

	// TPM is the device that opens what a TPM sealed of the seed file. Empty: /dev/tpmrm0.
	TPM string
	// CounterRequired makes a signer use only a state that is bound to a counter in the TPM, and bind one that it creates.
	CounterRequired bool
	// TokenCommand is the program, with its arguments, that opens what a token sealed of the seed file.
	TokenCommand []string
}

// Lock is whether memory must be kept out of swap.
type Lock string

// The locks: without it the process does not start, or warns, or does not try.
const (
	LockRequired  Lock = "required"
	LockPreferred Lock = "preferred"
	LockOff       Lock = "off"
)

// Remote reports whether this process has no seed: the signer is a separate process, or there is none.
func (s Signer) Remote() bool { return s.Address != "" || s.WatchOnly != "" }

var signerSettings = []setting[Signer]{
	{"address", func(r *reader, n *node, to *Signer) {
		text, ok := r.text(n)
		if path, unix := strings.CutPrefix(text, "unix:"); ok && unix && path != "" {
			to.Address = "unix:" + r.resolve(n, path)
			return
		}
		if ok && !strings.HasPrefix(text, "https://") {
			r.fail(n, "%.60q is not a signer's address: unix:/path of a socket, or https://host:port", text)
			return
		}
		keep(&to.Address)(text, ok)
	}},
	{"ca", func(r *reader, n *node, to *Signer) { r.file(n, &to.CA) }},
	{"cert", func(r *reader, n *node, to *Signer) { r.file(n, &to.Cert) }},
	{"key", func(r *reader, n *node, to *Signer) { r.file(n, &to.Key) }},
	{"clients", func(r *reader, n *node, to *Signer) { to.Clients = r.names(n) }},
	{"users", func(r *reader, n *node, to *Signer) { to.Users = r.names(n) }},
	{"lock_memory", func(r *reader, n *node, to *Signer) {
		word, ok := r.oneOf(n, string(LockRequired), string(LockPreferred), string(LockOff))
		keep(&to.LockMemory)(Lock(word), ok)
	}},
	{"policy", func(r *reader, n *node, to *Signer) {
		word, _ := r.oneOf(n, policyRequired, policyOptional)
		to.PolicyRequired = word == policyRequired
	}},
	{"orders", func(r *reader, n *node, to *Signer) {
		word, _ := r.oneOf(n, policyRequired, policyOptional)
		to.OrdersRequired = word == policyRequired
	}},
	{"external_spend", func(r *reader, n *node, to *Signer) {
		word, _ := r.oneOf(n, spendFreezes, spendHalts)
		to.FreezesOnSpend, to.HaltsOnSpend = word == spendFreezes, word == spendHalts
	}},
	{"watch_only", func(r *reader, n *node, to *Signer) { r.file(n, &to.WatchOnly) }},
	{"state", func(r *reader, n *node, to *Signer) { r.file(n, &to.State) }},
	{"witness", func(r *reader, n *node, to *Signer) { keep(&to.Witness)(r.text(n)) }},
	{"witnessed", func(r *reader, n *node, to *Signer) { r.file(n, &to.Witnessed) }},
	{"tpm", func(r *reader, n *node, to *Signer) { r.file(n, &to.TPM) }},
	{"counter", func(r *reader, n *node, to *Signer) {
		word, _ := r.oneOf(n, counterTPM, counterNone)
		to.CounterRequired = word == counterTPM
	}},
	{"token_command", func(r *reader, n *node, to *Signer) { to.TokenCommand = r.names(n) }},
}

// The words of signer.external_spend.
const (
	spendFreezes = "freeze"
	spendHalts   = "halt"
)

// FreezeOnSpend reports whether the signer of a configuration freezes when the service sees an external spend.
func (c Config) FreezeOnSpend() bool {
	return c.Signer.FreezesOnSpend || c.Network == Mainnet && !c.Signer.HaltsOnSpend
}

// The words of signer.policy and signer.orders.
const (
	policyRequired = "required"
	policyOptional = "optional"
)

// The words of signer.counter.
const (
	counterTPM  = "tpm"
	counterNone = "none"
)

// here reports whether anything is set that a signer in the service's own process uses.
func (s Signer) here() bool {
	return s.State != "" || s.LockMemory != "" || s.PolicyRequired || s.OrdersRequired || s.HaltsOnSpend ||
		s.FreezesOnSpend ||
		s.TPM != "" || s.Witness != "" || s.CounterRequired || len(s.TokenCommand) > 0
}

// names parses a list of names.
func (r *reader) names(n *node) (list []string) {
	for _, item := range r.list(n) {
		if name, ok := r.text(item); ok {
			list = append(list, name)
		}
	}
	return list
}

// file parses a path.
func (r *reader) file(n *node, to *string) {
	if path, ok := r.text(n); ok {
		*to = r.resolve(n, path)
	}
}

// signer reads the section.
func (r *reader) signer(section *node, cfg *Config) {
	read(r, section, signerSettings, &cfg.Signer)
	if (cfg.Signer.Witness == "") != (cfg.Signer.Witnessed == "") {
		r.fail(section, "witness is the key of a witness, and witnessed the file with what it cosigned: one needs the other")
	}
	files := cfg.Signer.CA + cfg.Signer.Cert + cfg.Signer.Key
	switch {
	case cfg.Signer.Address == "" && section.field("address") == nil && files == "" && cfg.Signer.here():
	case cfg.Signer.Address == "" && cfg.Signer.WatchOnly != "" && files == "":
	case cfg.Signer.Address == "" && section.field("address") == nil:
		r.fail(section, "address is required: unix:/path of a socket, or https://host:port")
	case strings.HasPrefix(cfg.Signer.Address, "https://") &&
		(cfg.Signer.CA == "" || cfg.Signer.Cert == "" || cfg.Signer.Key == ""):
		r.fail(section, "https needs ca, cert and key: both sides authenticate with a certificate")
	case strings.HasPrefix(cfg.Signer.Address, "https://") && len(cfg.Signer.Users) > 0:
		r.fail(section, "users are of a socket: over https clients names the certificates")
	case strings.HasPrefix(cfg.Signer.Address, "unix:") && len(cfg.Signer.Clients) > 0:
		r.fail(section, "clients are of https: users names who may use a socket")
	case strings.HasPrefix(cfg.Signer.Address, "unix:") && files != "":
		r.fail(section, "a socket needs no ca, cert or key: its file permissions decide who may connect")
	}
}
