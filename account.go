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

	// Webhook receives the account's own events, such as those of withdrawals; empty: they go to the newest webhook
	// that was set for all its wallets.
	Webhook string
}

// FrozenByReversal is the reason for which an account is frozen when a credited deposit was reorged out.
const FrozenByReversal = "a credited deposit was reversed by its chain"

// FrozenByRefundReversal is the reason for which an account is frozen when it has spent a refund and the block with the
// failed payment was reorged out.
const FrozenByRefundReversal = "a refund was reversed by its chain"

// Scope is one thing an API key may do.
type Scope string

// The scopes of an API key.
const (
	ScopeRead     Scope = "read"
	ScopeWallets  Scope = "wallets"
	ScopeWithdraw Scope = "withdraw"
)

// APIKey is the stored part of an API key: its hash and its rights, never the key.
type APIKey struct {
	ID         ID
	AccountID  ID
	KeyHash    [32]byte // SHA-256 of the key
	SecretHash []byte   // SHA-256 of the secret; nil for a key made without one
	Hint       string   // the key's first characters, for lists
	Scopes     []Scope
	Networks   []netip.Prefix // networks from which it may be used; none: all
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
}

// Usable reports whether the key is valid at that time: neither expired nor revoked.
func (k APIKey) Usable(at time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || at.Before(k.ExpiresAt))
}

// Allows reports whether the key has the scope.
func (k APIKey) Allows(scope Scope) bool {
	for _, s := range k.Scopes {
		if s == scope {
			return true
		}
	}
	return false
}

// MayComeFrom reports whether the key may be used from an address. The zero address means that the address is not
// known; it is on no list.
func (k APIKey) MayComeFrom(address netip.Addr) bool {
	from := address.Unmap().WithZone("")
	return len(k.Networks) == 0 || slices.ContainsFunc(k.Networks, func(n netip.Prefix) bool { return n.Contains(from) })
}
