package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bursar/bursar/client"
)

// goPlayer plays calls with the Go client, in this process.
type goPlayer struct {
	*client.Client
	webhookSecret string
}

func newGoPlayer(api string, a customer) (goPlayer, error) {
	c, err := client.New(client.Config{BaseURL: api, Key: a.APIKey, Secret: a.APISecret})
	return goPlayer{c, a.WebhookSecret}, err
}

// given are the parameters that the scenario has.
type given struct {
	Currency, Webhook, Metadata, Minimum, Amount, Address, Reference string
	After, Event, Q, WalletID, ChargeID, HashID, WithdrawalID, Seen  string
	Expires, Wait                                                    int
	Limit                                                            int
	Withdrawals                                                      []client.NewWithdrawal
	Headers                                                          map[string]string
	Body                                                             string
}

func (p goPlayer) play(ctx context.Context, call string, values json.RawMessage, key string) (any, error) {
	var v given
	var texts struct{ Metadata map[string]string }
	if err := json.Unmarshal(values, &v); err != nil {
		if json.Unmarshal(values, &texts) != nil { // the metadata of a withdrawal is an object
			return nil, err
		}
	}
	play, known := map[string]func() (any, error){
		"listEvents": func() (any, error) {
			page, err := p.Events(ctx, client.FeedQuery{After: v.After})
			return map[string]any{"next": page.Next}, err
		},
		"nextEvent": func() (any, error) { return p.nextEvent(ctx, v) },
		"createWallet": func() (any, error) {
			return p.CreateWallet(ctx, client.NewWallet{Currency: v.Currency, Webhook: v.Webhook, Metadata: v.Metadata})
		},
		"getWallet":        func() (any, error) { return p.Wallet(ctx, v.WalletID) },
		"getAccount":       func() (any, error) { return p.Account(ctx) },
		"getDepositByHash": func() (any, error) { return p.DepositsByHash(ctx, v.HashID) },
		"createCharge":     func() (any, error) { return p.createCharge(ctx, v) },
		"getCharge":        func() (any, error) { return p.Charge(ctx, v.ChargeID) },
		"cancelCharge":     func() (any, error) { return p.CancelCharge(ctx, v.ChargeID) },
		"watchCharge": func() (any, error) {
			return p.WatchCharge(ctx, v.ChargeID, v.Seen, time.Duration(v.Wait)*time.Second)
		},
		"withdraw": func() (any, error) {
			return shown(p.Withdraw(ctx, client.NewWithdrawal{
				Currency:       v.Currency,
				Amount:         v.Amount,
				Address:        v.Address,
				Reference:      v.Reference,
				Metadata:       client.MetadataOf(texts.Metadata),
				IdempotencyKey: key,
			}))
		},
		"withdrawEach":  func() (any, error) { return p.withdrawEach(ctx, v) },
		"getWithdrawal": func() (any, error) { return shown(p.Withdrawal(ctx, v.WithdrawalID)) },
		"everyWallet":   func() (any, error) { return p.everyWallet(ctx, v.Limit) },
		"search":        func() (any, error) { return p.Search(ctx, v.Q) },
		"verify":        func() (any, error) { return p.verify(v) },
	}[call]
	if !known {
		return nil, fmt.Errorf("the Go player does not know %s", call)
	}
	return play()
}

func (p goPlayer) nextEvent(ctx context.Context, v given) (any, error) {
	query := client.FeedQuery{After: v.After, Event: v.Event, Wait: time.Duration(v.Wait) * time.Second}
	for event, err := range p.Feed(ctx, query) {
		return json.RawMessage(event.Raw), err
	}
	return nil, errors.New("the feed ended")
}

func (p goPlayer) createCharge(ctx context.Context, v given) (any, error) {
	if v.Amount != "" {
		return p.CreateSum(ctx, client.NewSum{Currencies: []string{v.Currency}, Webhook: v.Webhook, Amount: v.Amount,
			Reference: v.Reference})
	}
	return p.CreateCharge(ctx, client.NewCharge{Currency: v.Currency, Webhook: v.Webhook, Minimum: v.Minimum,
		Life: time.Duration(v.Expires) * time.Second})
}

func (p goPlayer) withdrawEach(ctx context.Context, v given) (any, error) {
	results, err := p.WithdrawEach(ctx, v.Withdrawals)
	var list []map[string]any
	for _, r := range results {
		one := map[string]any{"reference": r.Reference, "withdrawal": r.Withdrawal}
		if r.Err != nil {
			one["error"] = map[string]any{"code": r.Err.Code}
		}
		list = append(list, one)
	}
	return list, err
}

func (p goPlayer) everyWallet(ctx context.Context, limit int) (any, error) {
	var list []client.Wallet
	pages := func(ctx context.Context, page client.Page) (client.List[client.Wallet], error) {
		page.Limit = limit
		return p.Wallets(ctx, page)
	}
	for w, err := range client.All(ctx, pages) {
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

func (p goPlayer) verify(v given) (any, error) {
	header := http.Header{}
	for name, value := range v.Headers {
		header.Set(name, value)
	}
	event, err := client.VerifyWebhook(p.webhookSecret, header, []byte(v.Body), time.Now())
	return json.RawMessage(event.Raw), err
}

// shown writes a withdrawal with its metadata as the service has it: as an object.
func shown(w client.Withdrawal, err error) (any, error) {
	return map[string]any{
		"withdrawalID": w.WithdrawalID,
		"amount":       w.Amount,
		"address":      w.Address,
		"reference":    w.Reference,
		"metadata":     w.Metadata.Texts(),
		"status":       w.Status,
	}, err
}

// ask plays a call and returns what the players of other languages write.
func (p goPlayer) ask(ctx context.Context, line []byte) ([]byte, error) {
	var asked struct {
		Call   string
		Values json.RawMessage
		Key    string
	}
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	result, err := p.play(ctx, asked.Call, asked.Values, asked.Key)
	var refused *client.Error
	switch {
	case errors.As(err, &refused):
		return json.Marshal(map[string]any{"error": map[string]any{
			"status": refused.Status,
			"code":   refused.Code,
			"field":  refused.Field,
			"docs":   refused.Docs,
		}})
	case errors.Is(err, client.ErrWebhookSignature):
		return []byte(`{"error":{"code":"signature"}}`), nil
	case err != nil:
		return nil, err
	}
	return json.Marshal(map[string]any{"result": result})
}
