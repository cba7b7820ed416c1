package bursar

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// ColdKind says how a cold wallet is controlled, and thereby how a ceremony spends from it.
type ColdKind string

// The kinds of cold wallets.
const (
	ColdDescriptor ColdKind = "descriptor"  // UTXO model: an output descriptor of BIP 380, wpkh or wsh(sortedmulti)
	ColdAddress    ColdKind = "address"     // one key on a device
	ColdSignerList ColdKind = "signer_list" // XRPL: an account with a SignerList
	ColdPermission ColdKind = "permission"  // Tron: an account with a permission of several keys
	ColdSafe       ColdKind = "safe"        // EVM: a Safe contract
	ColdNonce      ColdKind = "nonce"       // Solana: an account that is the authority of a durable nonce account
)

// ColdKinds returns every kind, in the order of the documentation.
func ColdKinds() []ColdKind {
	return []ColdKind{ColdDescriptor, ColdAddress, ColdSignerList, ColdPermission, ColdSafe, ColdNonce}
}

// MaxColdAddresses is the largest number of addresses of one cold wallet.
const MaxColdAddresses = 1000

// ColdWallet is a wallet whose keys neither the service nor its signer has. Its addresses are listed where it is
// configured: nothing derives them from its keys on a machine that faces a network.
type ColdWallet struct {
	Chain ChainID
	Name  string // unique on its chain: small letters, digits and hyphens
	Kind  ColdKind
	// Addresses are in the canonical form of the chain, the first of which is paid first. A wallet of the kind
	// descriptor may have several, all others have one.
	Addresses []string

	Descriptor   string // of the kind descriptor: with its checksum, as BIP 380 writes it
	PermissionID int32  // of the kind permission: 2 or more, as Tron numbers active permissions; 0 is the owner's
	NonceAccount string // of the kind nonce: the address of the nonce account
	// Executor, of the kind safe, is the address of the account that sends the call of the contract and pays its gas;
	// refills need it.
	Executor string
}

var coldName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// ErrBadColdWallet is wrapped by the errors of Check.
var ErrBadColdWallet = errors.New("not a usable cold wallet")

// Check refuses a cold wallet that is not complete, whose parts do not fit its kind, or that is neither a single
// address nor of one of the kinds that its chain has besides. It does not parse addresses or descriptors: that needs
// the rules of the chain.
func (w ColdWallet) Check(kinds ...ColdKind) error {
	switch {
	case !coldName.MatchString(w.Name):
		return w.bad("its name consists of small letters, digits and hyphens, at most 32")
	case w.Kind != ColdAddress && !slices.Contains(kinds, w.Kind):
		return w.bad("its chain has none of kind %q", w.Kind)
	case len(w.Addresses) == 0:
		return w.bad("the wallet lists no address")
	case w.Kind != ColdDescriptor && len(w.Addresses) > 1:
		return w.bad("only a descriptor has more than one address")
	case len(w.Addresses) > MaxColdAddresses:
		return w.bad("the wallet lists %d addresses; at most %d are allowed", len(w.Addresses), MaxColdAddresses)
	}
	if err := w.checkParts(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, a := range w.Addresses {
		if a == "" || seen[a] {
			return w.bad("the address %q is empty or listed twice", a)
		}
		seen[a] = true
	}
	return nil
}

// checkParts checks what belongs to one kind only.
func (w ColdWallet) checkParts() error {
	for _, part := range []struct {
		name string
		of   ColdKind
		set  bool
	}{
		{"descriptor", ColdDescriptor, w.Descriptor != ""},
		{"permission_id", ColdPermission, w.PermissionID != 0},
		{"nonce_account", ColdNonce, w.NonceAccount != ""},
		{"executor", ColdSafe, w.Executor != ""},
	} {
		if part.set && w.Kind != part.of {
			return w.bad("%s is of the kind %s only", part.name, part.of)
		}
		if !part.set && w.Kind == part.of && part.of != ColdPermission && part.of != ColdSafe {
			return w.bad("%s is required", part.name)
		}
	}
	if w.PermissionID < 0 || w.PermissionID == 1 || w.PermissionID > 9 {
		return w.bad("permission_id is 0 for the owner's permission, or 2 to 9")
	}
	return nil
}

func (w ColdWallet) bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s of %s: %s", ErrBadColdWallet, w.Name, w.Chain, fmt.Sprintf(format, args...))
}

// Has reports whether an address is one of the wallet's.
func (w ColdWallet) Has(base string) bool {
	return slices.Contains(w.Addresses, base)
}

// Next returns the address that the n-th payment to the wallet goes to, counted from 0: each once, and the last one
// again when all were used. A wallet of another kind than descriptor has one address.
func (w ColdWallet) Next(n int) string { return w.Addresses[min(n, len(w.Addresses)-1)] }

// ColdBases returns the addresses of cold wallets, in their order.
func ColdBases(wallets []ColdWallet) (bases []string) {
	for _, w := range wallets {
		bases = append(bases, w.Addresses...)
	}
	return bases
}
