// Package verdict defines the request to a screening service about a payment, and the answer that the service signs.
//
// It owns these two texts, in the form of package approval, and when an answer counts. It never asks anybody, and
// decides nothing about a payment. The service that asks, the signer and screening services share it. Its invariants: a
// text has one canonical form; an answer is bound to one payment by the hash of the request, and counts until the time
// that it names.
package verdict

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
)

// The first lines of the texts.
const (
	firstOfRequest = "bursar-screening-request/1"
	firstOfAnswer  = "bursar-screening/1"
)

// The kinds of requests.
const (
	OfDeposit = "deposit"
	OfPayout  = "payout"
)

// none is what stands for a value that is not there.
const none = "-"

// Request describes what is screened: a deposit that is final and not yet credited, or a payout that is not yet signed.
type Request struct {
	Instance string    // of the database; "-" where it has no name
	Subject  bursar.ID // of the deposit or the withdrawal
	Kind     string    // OfDeposit or OfPayout
	Order    bursar.ID // of a payout, as its order names it: as the client chose it, or Subject; zero for a deposit
	Account  bursar.ID // who is credited, or pays; zero: nobody's
	Chain    bursar.ChainID
	Contract string         // canonical; empty for the native asset
	Address  bursar.Address // that received the deposit, or is to be paid
	Units    bursar.Amount  // of the asset, without decimals
	TxID     string         // of the deposit; empty for a payout
	Output   uint32         // of the deposit, within its transaction
	Block    string         // hash of the block with the deposit; empty for a payout
	Asking   bursar.ID      // of this question: no two questions have the same
	Created  time.Time
}

// Text returns the text of a request.
func (q Request) Text() string {
	w := approval.NewWriter(firstOfRequest)
	w.Field("instance", q.Instance)
	w.Field("subject", q.Subject.String())
	w.Field("kind", q.Kind)
	w.Optional("order", idText(q.Order))
	w.Optional("account", idText(q.Account))
	w.Field("chain", string(q.Chain))
	w.Field("asset", approval.AssetText(q.Contract))
	w.Address(q.Address)
	w.Field("units", q.Units.String())
	w.Optional("transaction", q.TxID)
	w.Field("output", strconv.FormatUint(uint64(q.Output), 10))
	w.Optional("block", q.Block)
	w.Field("asking", q.Asking.String())
	w.Time("created", q.Created)
	return w.Text()
}

func idText(id bursar.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// ParseRequest reads the text of a request. The error is approval.ErrText.
func ParseRequest(text string) (q Request, err error) {
	r := approval.NewReader(text, firstOfRequest)
	q.Instance = r.Word("instance")
	q.Subject = r.ID("subject", "")
	q.Kind = r.OneOf("kind", OfDeposit, OfPayout)
	q.Order = r.ID("order", none)
	q.Account = r.ID("account", none)
	q.Chain = bursar.ChainID(r.Name("chain"))
	q.Contract = r.Asset("asset")
	q.Address = r.Address()
	q.Units = r.Amount("units", false)
	q.TxID = optionalWord(r, "transaction")
	output := r.Number("output")
	r.Demand(output <= 1<<32-1, "output is %d, want a number of 32 bits", output)
	q.Output = uint32(output)
	q.Block = optionalWord(r, "block")
	q.Asking = r.ID("asking", "")
	q.Created = r.Time("created")
	return approval.Canonical(r, q, text)
}

func optionalWord(r *approval.Reader, name string) string {
	if value := r.Word(name); value != none {
		return value
	}
	return ""
}

// Same reports whether two requests are for the same payment, whenever they were made.
func (q Request) Same(other Request) bool {
	q.Asking, q.Created, q.Instance = other.Asking, other.Created, other.Instance
	return q == other
}

// Verdict is the decision of the screening service.
type Verdict string

// The verdicts.
const (
	Pass   Verdict = "pass"
	Review Verdict = "review" // a person must decide
	Reject Verdict = "reject"
)

// Answer is the text that the screening service signs.
type Answer struct {
	Instance string
	Subject  bursar.ID
	Request  approval.Hash // of the text of the request
	Verdict  Verdict
	List     string // version of the lists that were compared with, without spaces
	Created  time.Time
	Expires  time.Time // at most approval.Longest after Created
}

// Text returns the text of an answer: the bytes that are signed.
func (a Answer) Text() string {
	w := approval.NewWriter(firstOfAnswer)
	w.Field("instance", a.Instance)
	w.Field("subject", a.Subject.String())
	w.Field("request", a.Request.String())
	w.Field("verdict", string(a.Verdict))
	w.Field("list", a.List)
	w.Time("created", a.Created)
	w.Time("expires", a.Expires)
	return w.Text()
}

// ParseAnswer reads the text of an answer. The error is approval.ErrText.
func ParseAnswer(text string) (a Answer, err error) {
	r := approval.NewReader(text, firstOfAnswer)
	a.Instance = r.Word("instance")
	a.Subject = r.ID("subject", "")
	a.Request = r.Hash("request")
	a.Verdict = Verdict(r.OneOf("verdict", string(Pass), string(Review), string(Reject)))
	a.List = r.Word("list")
	a.Created, a.Expires = r.Time("created"), r.Time("expires")
	r.Demand(r.Err() != nil || approval.Lasts(a.Created, a.Expires) == nil, "it must end after it begins, within %s",
		approval.Longest)
	return approval.Canonical(r, a, text)
}

// ErrAnswer is returned for an answer that is not valid, with the reason.
var ErrAnswer = errors.New("the answer does not count")

// clocksDiffer is how far the clock of the screening service may be ahead.
const clocksDiffer = time.Minute

// Verify returns the answer in a signed text if it is by the key, to this request, and has not expired. The signature
// is Ed25519 over the text, in standard Base64. The error is ErrAnswer.
func Verify(key ed25519.PublicKey, request Request, text, signature string, now time.Time) (Answer, error) {
	signed, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, []byte(text), signed) {
		return Answer{}, fmt.Errorf("%w: the answer is not signed by the key of the screening service", ErrAnswer)
	}
	a, err := ParseAnswer(text)
	switch {
	case err != nil:
		return a, fmt.Errorf("%w: %w", ErrAnswer, err)
	case a.Subject != request.Subject || a.Instance != request.Instance || a.Request != approval.HashOf(request.Text()):
		return a, fmt.Errorf("%w: the answer is for another request", ErrAnswer)
	case !now.Before(a.Expires):
		return a, fmt.Errorf("%w: the answer expired at %s", ErrAnswer, approval.Moment(a.Expires))
	case a.Created.After(now.Add(clocksDiffer)):
		return a, fmt.Errorf("%w: the answer was made at %s, which is ahead of this clock", ErrAnswer,
			approval.Moment(a.Created))
	}
	return a, nil
}
