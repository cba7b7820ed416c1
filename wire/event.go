package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// eventBody is the body that a receiver gets. It carries no secret, and is written once, when the event is recorded.
type eventBody struct {
	Success  bool `json:"success"`
	Response struct {
		Webhook webhookBody `json:"webhook"`
	} `json:"response"`
}

type webhookBody struct {
	AccountID  bursar.ID        `json:"accountID"`
	Type       string           `json:"type"`
	Event      bursar.EventKind `json:"event"`
	EventID    bursar.ID        `json:"eventID"`
	CreatedAt  time.Time        `json:"createdAt"`
	Deposit    *Deposit         `json:"deposit,omitempty"`
	Charge     any              `json:"charge,omitempty"` // a *chargePaid, or an Invoice
	Withdrawal *Withdrawal      `json:"withdrawal,omitempty"`
}

// chargePaid is the charge in a webhook body: Amount is what the deposit delivered. The values in USDT are those at the
// time of the credit; they and their rate are either all present or all absent.
type chargePaid struct {
	ChargeID   bursar.ID           `json:"chargeID"`
	Currency   bursar.CurrencyCode `json:"currency"`
	Address    string              `json:"address"`
	Amount     string              `json:"amount"`
	AmountUSDT string              `json:"amountUSDT,omitempty"`
	FeeUSDT    string              `json:"feeUSDT,omitempty"`
	RateUSDT   string              `json:"rateUSDT,omitempty"`
	Metadata   string              `json:"metadata"`
}

// value adds the values in USDT, where the rate is known.
func (c *chargePaid) value(rate bursar.Rate, d bursar.Deposit, of bursar.Currency) {
	amount, fee := rate.Worth(d.Amount, of), rate.Worth(d.Fee, of)
	if amount != "" && fee != "" {
		c.AmountUSDT, c.FeeUSDT, c.RateUSDT = amount, fee, rate.String()
	}
}

func withBody(e bursar.Event, body webhookBody) (bursar.Event, error) {
	body.AccountID, body.Event, body.EventID, body.CreatedAt = e.AccountID, e.Kind, e.ID, e.CreatedAt
	whole := eventBody{Success: true}
	whole.Response.Webhook = body
	text, err := json.Marshal(whole)
	if err != nil {
		return bursar.Event{}, fmt.Errorf("write the body of event %s: %w", e.ID, err)
	}
	e.Body = text
	return e, nil
}

// DepositEvent makes an event about a deposit for the webhook of its wallet, of its charge, or of the account where it
// has neither. It has the value of a charge's credit in USDT where the rate is known, which is not zero then.
func DepositEvent(rate bursar.Rate, id bursar.ID, kind bursar.EventKind, d bursar.Deposit, c bursar.Currency,
	at ConfirmationContext, now time.Time) (bursar.Event, error) {
	view := NewDeposit(d, c, at)
	view.Webhook = "" // the receiver knows its own URL, and must not learn another one from the configuration
	e := bursar.Event{ID: id, AccountID: d.AccountID, Kind: kind, Subject: d.ID, URL: d.Webhook, CreatedAt: now}
	about := "wallet"
	switch d.Purpose {
	case bursar.ForAccount:
		about = "account"
	case bursar.ForCharge:
		charge := &chargePaid{
			ChargeID: d.WalletID,
			Currency: d.Currency,
			Address:  view.Address,
			Amount:   view.Amount,
			Metadata: d.Metadata,
		}
		if kind == bursar.EventPaid || kind == bursar.EventDeposit {
			charge.value(rate, d, c)
		}
		return withBody(e, webhookBody{Type: "charge", Deposit: &view, Charge: charge})
	}
	return withBody(e, webhookBody{Type: about, Deposit: &view})
}

// WithdrawalEvent makes an event about a withdrawal's status for a URL.
func WithdrawalEvent(
	id bursar.ID, url string, w bursar.Withdrawal, c bursar.Currency, now time.Time,
) (bursar.Event, error) {
	view := NewWithdrawal(w, c)
	return withBody(bursar.Event{
		ID:        id,
		AccountID: w.AccountID,
		Kind:      bursar.EventWithdrawal,
		Subject:   w.ID,
		URL:       url,
		CreatedAt: now,
	}, webhookBody{Type: "account", Withdrawal: &view})
}
