package bursar

import (
	"net/netip"
	"slices"
	"time"
)

// Account is a tenant of the service: it owns wallets, charges and balances, and holds API keys.
type Account struct {
	ID        ID
	Name      string
	CreatedAt time.Time

	// Frozen says why withdrawals are refused; empty while they are allowed.
	Frozen string

	// WebhookGeneration counts the rotations of the webhook secret; the one before stays valid until WebhookOverlap.
	WebhookGeneration uint32
	WebhookOverlap    time.Time

	// NotifyPending and NotifyWithdrawals opt in to deposit_pending and withdrawal events.
	NotifyPending     bool
	NotifyWithdrawals bool

	// Webhook is where the account's own events go, such as those of withdrawals; empty: to the newest webhook that was
	// set for all its wallets.
	Webhook string
}

// FrozenByReversal is the reason an account is frozen with when a credited deposit left its chain.
const FrozenByReversal = "a credited deposit was reversed by its chain"

// FrozenByReopening is the reason an account is frozen with that has spent a refund whose failed payment left its
// chain.
const FrozenByRefundReversal = "a refund was reversed by its chain"

// Scope is one thing an API key may do.
type Scope string

// The scopes of an API key.
const (
	ScopeRead     Scope = "read"
	ScopeWallets  Scope = "wallets"
	ScopeWithdraw Scope = "withdraw"
)

// APIKey is what is kept of an API key: its hash and its rights, never the key.
type APIKey struct {
	ID         ID
	AccountID  ID
	KeyHash    [32]byte // SHA-256 of the key
	SecretHash []byte   // SHA-256 of the secret; nil for a key made without one
	Hint       string   // the key's first characters, for lists
	Scopes     []Scope
	Networks   []netip.Prefix // where it may be used from; none: everywhere
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
}

// Usable reports whether the key opens anything at that time.
func (k APIKey) Usable(at time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || at.Before(k.ExpiresAt))
}

// Allows reports whether the key carries the scope.
func (k APIKey) Allows(scope Scope) bool {
	for _, s := range k.Scopes {
		if s == scope {
			return true
		}
	}
	return false
}

// MayComeFrom reports whether the key may be used from an address. The zero address, which stands for one that is not
// known, is on no list.
func (k APIKey) MayComeFrom(address netip.Addr) bool {
	from := address.Unmap().WithZone("")
	return len(k.Networks) == 0 || slices.ContainsFunc(k.Networks, func(n netip.Prefix) bool { return n.Contains(from) })
}
