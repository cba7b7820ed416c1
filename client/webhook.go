package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookTolerance is how far a webhook's timestamp may be from now, in either direction, so that a recorded webhook
// cannot be replayed later. Standard Webhooks recommends it.
const WebhookTolerance = 5 * time.Minute

// The events of a webhook.
const (
	EventDeposit         = "deposit"          // credited
	EventDepositPending  = "deposit_pending"  // seen in a block
	EventDepositReversed = "deposit_reversed" // was reorged out after it was credited
	EventPaid            = "paid"             // a charge was paid
	EventWithdrawal      = "withdrawal"       // a withdrawal changed its status
	EventTest            = "test"

	// Of charges whose deposits add up, in addition to EventPaid; Event.Sum is the whole charge.
	EventLate      = "late"      // a payment was credited that was first seen after the end
	EventReversed  = "reversed"  // a credited payment was reorged out
	EventAttention = "attention" // a payment waits for a resolution
	EventPending   = "pending"   // a payment is in a block; sent where it was asked for, as those below
	EventPartial   = "partial"   // a payment was credited and more is due
	EventOverpaid  = "overpaid"
	EventExpired   = "expired"
	EventCancelled = "cancelled"
	EventRefunded  = "refunded"
)

// Event is the content of a webhook. One event may come several times: EventID is the same each time, so store it and
// process an event once.
type Event struct {
	EventID    string      `json:"eventID"`
	AccountID  string      `json:"accountID"`
	Type       string      `json:"type"` // wallet, charge, account or test
	Event      string      `json:"event"`
	CreatedAt  time.Time   `json:"createdAt"`
	Deposit    *Deposit    `json:"deposit"`
	Charge     *ChargePaid `json:"charge"`
	Withdrawal *Withdrawal `json:"withdrawal"`

	// Sum is the whole charge of an event about one whose deposits add up; Charge is nil then. Its Version rises: drop
	// what is older than what you know.
	Sum *Charge `json:"-"`

	// Raw is the event as the service wrote it, in JSON.
	Raw string `json:"-"`
}

// ChargePaid is the charge in a webhook. Amount is what the deposit delivered. The values in USDT are those at the time
// of the credit, rounded down to six decimals, by RateUSDT; they are empty where the service has no rate.
type ChargePaid struct {
	ChargeID   string `json:"chargeID"`
	Currency   string `json:"currency"`
	Address    string `json:"address"`
	Amount     string `json:"amount"`
	AmountUSDT string `json:"amountUSDT"`
	FeeUSDT    string `json:"feeUSDT"`
	RateUSDT   string `json:"rateUSDT"` // value of one whole unit of the currency
	Metadata   string `json:"metadata"`
}

// The reasons why a webhook must not be trusted.
var (
	ErrWebhookSecret    = errors.New("client: the webhook secret is not whsec_ and base64")
	ErrWebhookHeaders   = errors.New("client: webhook-id, webhook-timestamp or webhook-signature is missing or malformed")
	ErrWebhookTimestamp = errors.New("client: the webhook's timestamp is too far from now")
	ErrWebhookSignature = errors.New("client: no signature of the webhook is valid")
)

// VerifyWebhook verifies a webhook by Standard Webhooks and returns its event. secret is the account's, "whsec_…"; body
// is the request's, byte for byte as received; now is the time. While the secret is rotated a webhook carries a
// signature of each: one valid signature is enough. Signatures are compared in constant time. Nothing of the body is
// parsed before that.
func VerifyWebhook(secret string, header http.Header, body []byte, now time.Time) (Event, error) {
	key, err := webhookKey(secret)
	if err != nil {
		return Event{}, err
	}
	id, stamp, signatures := one(header, "webhook-id"), one(header, "webhook-timestamp"), one(header, "webhook-signature")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if id == "" || signatures == "" || err != nil {
		return Event{}, ErrWebhookHeaders
	}
	// Compare whole seconds: a time of the year 300,000,000,000 overflows a Duration.
	if apart := seconds - now.Unix(); seconds < 0 || apart > int64(WebhookTolerance/time.Second) ||
		-apart > int64(WebhookTolerance/time.Second) {
		return Event{}, ErrWebhookTimestamp
	}
	if !signed(key, id+"."+stamp+".", body, signatures) {
		return Event{}, ErrWebhookSignature
	}
	var whole struct {
		Response struct {
			Webhook json.RawMessage `json:"webhook"`
		} `json:"response"`
	}
	if err := json.Unmarshal(body, &whole); err != nil {
		return Event{}, fmt.Errorf("client: read the webhook: %w", err)
	}
	event, err := readEvent(whole.Response.Webhook)
	if err != nil {
		return Event{}, fmt.Errorf("client: read the webhook: %w", err)
	}
	return event, nil
}

// webhookKey decodes a secret. It refuses an empty key, with which anybody could sign.
func webhookKey(secret string) ([]byte, error) {
	text, marked := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if !marked || err != nil || len(key) == 0 {
		return nil, ErrWebhookSecret
	}
	return key, nil
}

// one returns the value of a header that is present exactly once, else "".
func one(header http.Header, name string) string {
	values := header.Values(name)
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// signed checks every signature of version 1, and ignores those of later versions.
func signed(key []byte, prefix string, body []byte, signatures string) bool {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(prefix))
	mac.Write(body)
	want := mac.Sum(nil)
	right := false
	for _, signature := range strings.Fields(signatures) {
		text, known := strings.CutPrefix(signature, "v1,")
		if !known {
			continue
		}
		got, err := base64.StdEncoding.DecodeString(text)
		right = err == nil && hmac.Equal(got, want) || right
	}
	return right
}
