// Package approval defines the texts that people sign: orders and the approvals of them, destinations, and freezes.
//
// It owns their form: ASCII, one "name: value" on each line, every line ended by LF, the names in a fixed order, and
// one canonical form of each value. It never decides anything: package roster says whose signatures count, and package
// signer what they allow. Its invariants: a text that is read and written again has the same bytes, or is refused; a
// text names the signer's state that it is for, so that it means nothing to another signer or network; an approval
// contains the whole text that it approves.
package approval

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bursar/bursar"
)

// The namespaces of the signatures over each kind of text.
const (
	NamespaceApproval    = "approval@bursar"
	NamespacePolicy      = "policy@bursar"
	NamespaceDestination = "destination@bursar"
	NamespaceFreeze      = "freeze@bursar"
)

// The first lines of the texts.
const (
	KindOrder       = "bursar-order/1"
	KindApproval    = "bursar-approval/1"
	KindDestination = "bursar-destination/1"
	KindFreeze      = "bursar-freeze/1"
)

// ErrText is returned for a text that is not in its one form.
var ErrText = errors.New("not a text of this form")

// Longest is the longest that an approval, and whatever else is signed for a while, may be valid.
const Longest = 24 * time.Hour

// Hash is the SHA-256 of a text.
type Hash [sha256.Size]byte

// HashOf returns the hash of a text.
func HashOf(text string) Hash { return sha256.Sum256([]byte(text)) }

// String returns "sha256:" and the hash in hexadecimal.
func (h Hash) String() string { return hashPrefix + hex.EncodeToString(h[:]) }

const hashPrefix = "sha256:"

// Nonce makes a text unique.
type Nonce [16]byte

// NewNonce returns a random nonce.
func NewNonce() (n Nonce) {
	rand.Read(n[:]) // never fails
	return n
}

// String returns the nonce in hexadecimal.
func (n Nonce) String() string { return hex.EncodeToString(n[:]) }

// Decision is an approver's yes or no.
type Decision string

// The decisions.
const (
	Yes Decision = "yes"
	No  Decision = "no"
)

// Approval is one person's decision about an order. Who that is, the signature over its text says.
type Approval struct {
	Instance string // of the signer's state, as `bursar signer status` shows it
	Decision Decision
	Payment  int64  // which payment of the order: 1, unless the signer allowed it before, in another transaction
	Role     string // in which the person decides
	Version  int64  // of the policy under which it was decided
	Policy   Hash   // the hash of that policy's text
	Created  time.Time
	Expires  time.Time // at most Longest after Created
	Nonce    Nonce
	Order    Order
}

// Text returns the text of an approval.
func (a Approval) Text() string {
	w := NewWriter(KindApproval)
	w.Field("instance", a.Instance)
	w.Field("decision", string(a.Decision))
	w.Field("payment", strconv.FormatInt(a.Payment, 10))
	w.Field("role", a.Role)
	w.Field("policy", fmt.Sprintf("%d %s", a.Version, a.Policy))
	w.Time("created", a.Created)
	w.Time("expires", a.Expires)
	w.Field("nonce", a.Nonce.String())
	w.Field("order", HashOf(a.Order.Text()).String())
	return w.Text() + a.Order.Text()
}

// ParseApproval reads the text of an approval and of the order in it. The error is ErrText.
func ParseApproval(text string) (a Approval, err error) {
	r := NewReader(text, KindApproval)
	a.Instance = r.Word("instance")
	a.Decision = Decision(r.OneOf("decision", string(Yes), string(No)))
	a.Payment = r.Number("payment")
	r.Demand(r.Err() != nil || a.Payment > 0, "the payment is %d, want 1 or more", a.Payment)
	a.Role = r.Name("role")
	a.Version, a.Policy = r.Version("policy")
	a.Created, a.Expires = r.Time("created"), r.Time("expires")
	a.Nonce = r.Nonce("nonce")
	r.Hash("order")
	if a.Order, err = ParseOrder(r.Rest()); err != nil {
		return Approval{}, err
	}
	r.Demand(Lasts(a.Created, a.Expires) == nil, "the text must end after it begins, within %s", Longest)
	r.Demand(a.Instance == a.Order.Instance, "the approval and its order are for different signers")
	return Canonical(r, a, text)
}

// Lasts refuses a time that is no longer than nothing or longer than Longest.
func Lasts(created, expires time.Time) error {
	if !created.Before(expires) || expires.Sub(created) > Longest {
		return fmt.Errorf("%w: from %s to %s", ErrText, Moment(created), Moment(expires))
	}
	return nil
}

// Order is one payment, by the person or client who ordered it: the whole of what an approver decides about.
type Order struct {
	Instance  string
	Account   bursar.ID // who pays; zero: the operator, as for a refund to a sender
	ID        bursar.ID // unique within the account: of the withdrawal
	Requester string    // the person of the roster who ordered it, whose approval does not count; "": none of them
	Chain     bursar.ChainID
	Contract  string // canonical; empty for the native asset
	To        bursar.Address
	Units     bursar.Amount // of the asset, without decimals
	MaxFee    bursar.Amount // of the transaction, in units of the native asset; zero: what the signer's policy allows
	Created   time.Time
	Expires   time.Time
}

// Text returns the text of an order.
func (o Order) Text() string {
	w := NewWriter(KindOrder)
	w.Field("instance", o.Instance)
	w.Field("account", account(o.Account, none))
	w.Field("order", o.ID.String())
	w.Optional("requester", o.Requester)
	w.Field("chain", string(o.Chain))
	w.Field("asset", AssetText(o.Contract))
	w.Address(o.To)
	w.Field("units", o.Units.String())
	w.Amount("max_fee", o.MaxFee)
	w.Time("created", o.Created)
	w.Time("expires", o.Expires)
	return w.Text()
}

// ParseOrder reads the text of an order. The error is ErrText.
func ParseOrder(text string) (o Order, err error) {
	r := NewReader(text, KindOrder)
	o.Instance = r.Word("instance")
	o.Account = r.ID("account", none)
	o.ID = r.ID("order", "")
	o.Requester = r.OptionalName("requester")
	o.Chain = bursar.ChainID(r.Name("chain"))
	o.Contract = r.Asset("asset")
	o.To = r.Address()
	o.Units = r.Amount("units", false)
	o.MaxFee = r.Amount("max_fee", true)
	o.Created, o.Expires = r.Time("created"), r.Time("expires")
	r.Demand(o.Created.Before(o.Expires), "the text must end after it begins")
	return Canonical(r, o, text)
}
