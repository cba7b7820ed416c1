package bursar

import (
	"encoding/json"
	"fmt"
	"time"
)

// eventBody is what a receiver is sent. It carries no secret, and is written once, when the event is recorded.
type eventBody struct {
	Success  bool `json:"success"`
	Response struct {
		Webhook webhookBody `json:"webhook"`
	} `json:"response"`
}

type webhookBody struct {
	AccountID  ID              `json:"accountID"`
	Type       string          `json:"type"`
	Event      EventKind       `json:"event"`
	EventID    ID              `json:"eventID"`
	CreatedAt  time.Time       `json:"createdAt"`
	Deposit    *DepositView    `json:"deposit,omitempty"`
	Charge     *chargePaid     `json:"charge,omitempty"`
	Withdrawal *WithdrawalView `json:"withdrawal,omitempty"`
}

// chargePaid is the charge of a webhook: Amount is what the deposit delivered. The figures in USDT are those of the moment
// of its credit; they and their rate stand there together or not at all.
type chargePaid struct {
	ChargeID   ID           `json:"chargeID"`
	Currency   CurrencyCode `json:"currency"`
	Address    string       `json:"address"`
	Amount     string       `json:"amount"`
	AmountUSDT string       `json:"amountUSDT,omitempty"`
	FeeUSDT    string       `json:"feeUSDT,omitempty"`
	RateUSDT   string       `json:"rateUSDT,omitempty"`
	Metadata   string       `json:"metadata"`
}

// value adds the figures, where the rate is known.
func (c *chargePaid) value(rate Rate, d Deposit, of Currency) {
	amount, fee := rate.Worth(d.Amount, of), rate.Worth(d.Fee, of)
	if amount != "" && fee != "" {
		c.AmountUSDT, c.FeeUSDT, c.RateUSDT = amount, fee, rate.String()
	}
}

func (e Event) with(body webhookBody) (Event, error) {
	body.AccountID, body.Event, body.EventID, body.CreatedAt = e.AccountID, e.Kind, e.ID, e.CreatedAt
	whole := eventBody{Success: true}
	whole.Response.Webhook = body
	text, err := json.Marshal(whole)
	if err != nil {
		return Event{}, fmt.Errorf("write the body of event %s: %w", e.ID, err)
	}
	e.Body = text
	return e, nil
}

// DepositEvent reports a deposit to the webhook of its wallet, of its charge, or of the account where it has neither.
func DepositEvent(id ID, kind EventKind, d Deposit, c Currency, at Depth, now time.Time) (Event, error) {
	return RatedDepositEvent(Rate{}, id, kind, d, c, at, now)
}

// RatedDepositEvent is DepositEvent with what a credit to a charge is worth at a rate, where that is known.
func RatedDepositEvent(rate Rate, id ID, kind EventKind, d Deposit, c Currency, at Depth, now time.Time) (Event, error) {
	view := d.View(c, at)
	view.Webhook = "" // the receiver knows its own address, and need not learn how it is configured
	e := Event{ID: id, AccountID: d.AccountID, Kind: kind, Subject: d.ID, URL: d.Webhook, CreatedAt: now}
	about := "wallet"
	switch d.Purpose {
	case ForAccount:
		about = "account"
	case ForCharge:
		charge := &chargePaid{ChargeID: d.WalletID, Currency: d.Currency, Address: view.Address, Amount: view.Amount, Metadata: d.Metadata}
		if kind == EventPaid || kind == EventDeposit {
			charge.value(rate, d, c)
		}
		return e.with(webhookBody{Type: "charge", Deposit: &view, Charge: charge})
	}
	return e.with(webhookBody{Type: about, Deposit: &view})
}

// WithdrawalEvent reports a withdrawal's status to a URL.
func WithdrawalEvent(id ID, url string, w Withdrawal, c Currency, now time.Time) (Event, error) {
	view := w.View(c)
	return Event{ID: id, AccountID: w.AccountID, Kind: EventWithdrawal, Subject: w.ID, URL: url, CreatedAt: now}.with(webhookBody{Type: "account", Withdrawal: &view})
}
