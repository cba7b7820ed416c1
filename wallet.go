package bursar

import (
	"time"
	"unicode/utf8"
)

// Limits of what a client stores with a wallet, in bytes.
const (
	MaxMetadata = 4096
	MaxWebhook  = 2048
)

// Wallet is a deposit address with its webhook. A charge has one as well, which is never listed as a wallet.
type Wallet struct {
	Number     int64 // assigned by the store; it grows in commit order
	ID         ID
	AccountID  ID
	Currency   CurrencyCode
	Family     Family
	Index      uint32 // of the key path, or the memo on a chain where wallets share an address
	Address    Address
	Webhook    string
	Metadata   string
	ForCharge  bool
	ForInvoice bool // of a charge whose deposits add up; ForCharge is set too
	CreatedAt  time.Time
}

// CheckMetadata refuses metadata that is too long or not UTF-8; valid metadata is kept byte for byte.
func CheckMetadata(s string) error {
	if len(s) > MaxMetadata {
		return RefuseField(CodeInvalidRequest, "metadata", "metadata may have at most %d bytes, this has %d", MaxMetadata,
			len(s))
	}
	if !utf8.ValidString(s) {
		return RefuseField(CodeInvalidRequest, "metadata", "metadata must be valid UTF-8")
	}
	for i := range len(s) {
		if s[i] == 0 {
			return RefuseField(CodeInvalidRequest, "metadata", "metadata must not contain a zero byte")
		}
	}
	return nil
}
