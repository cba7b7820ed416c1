package bursar

import "time"

// OrderKey is a key with which a client signs the orders of an account, as the service knows it. The signer has its own
// list, and believes no other.
type OrderKey struct {
	AccountID  ID
	ID         string // of the key: 32 hexadecimal digits
	Name       string
	Public     string // the base64 of its SubjectPublicKeyInfo
	CreatedAt  time.Time
	UsableFrom time.Time
	RevokedAt  time.Time // zero: it is not revoked
}

// UsableAt reports whether signatures of the key count at that time.
func (k OrderKey) UsableAt(at time.Time) bool {
	return k.RevokedAt.IsZero() && !at.Before(k.UsableFrom)
}

// SignedOrder is the order of a withdrawal that its client signed, as it came. The signer checks it again.
type SignedOrder struct {
	WithdrawalID ID
	AccountID    ID
	OrderID      ID // chosen by the client; unique within the account, for ever
	Text         string
	Signature    string
	// of the transaction that pays it, in units of the native asset; zero: what the configuration allows
	MaxFee    Amount
	ExpiresAt time.Time // until when it may be signed
}
