package api

import (
	"context"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
	"github.com/bursar/bursar/withdrawal"
)

// Bounds of a batch of withdrawals: how many it has, and how many of them are taken at the same time. Those that come
// together are recorded in few transactions.
const (
	maxBatch = 100
	atOnce   = 20
)

// batchItem is one withdrawal of a batch as it is sent. Its reference is what makes a repetition harmless: a process
// that dies in the middle of a batch leaves some recorded, and the batch again returns them and takes the rest.
type batchItem struct {
	Currency  string            `json:"currency"`
	Amount    jsontext.Value    `json:"amount"`
	Address   string            `json:"address"`
	Reference string            `json:"reference"`
	Metadata  map[string]string `json:"metadata"`
	Order     string            `json:"order"`
	Signature string            `json:"signature"`
}

// batchResult is what became of one of them: either Withdrawal or Error is there.
type batchResult struct {
	Reference  string           `json:"reference"`
	Withdrawal *wire.Withdrawal `json:"withdrawal"`
	Error      *shownError      `json:"error"`
}

type batchAnswer struct {
	Results []batchResult `json:"results"` // in the order of the request
}

// withdrawEach is POST account/withdrawals.
func (a *api) withdrawEach(ctx context.Context, c *call) (any, error) {
	requests := c.batch()
	if c.in.err != nil {
		return nil, c.in.err
	}
	if err := a.limits.more(c.now, c.identity.Key.ID, bursar.ScopeWithdraw, len(requests)-1); err != nil {
		return nil, err
	}
	answer, settled := a.takeEach(ctx, requests)
	if settled {
		return answer, a.DB.Do(ctx, func(tx *store.Tx) error { return c.keep(tx, answer) })
	}
	var err error // the outcome of one is not known: the same request again is evaluated again
	c.kept, err = success(answer)
	return answer, err
}

// takeEach takes withdrawals, each by itself. settled is false where the outcome of one is not known, or may be another
// one in a moment.
func (a *api) takeEach(ctx context.Context, requests []withdrawal.Request) (answer batchAnswer, settled bool) {
	answer.Results = make([]batchResult, len(requests))
	slots := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for i, r := range requests {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			answer.Results[i] = a.takeOne(ctx, r)
		})
	}
	group.Wait()
	for _, r := range answer.Results {
		if r.Error != nil && statusOf(r.Error.Code) >= 500 {
			return answer, false
		}
	}
	return answer, true
}

func (a *api) takeOne(ctx context.Context, r withdrawal.Request) (result batchResult) {
	result.Reference = r.Reference
	defer func() { // no request's own guard is above this goroutine
		if cause := recover(); cause != nil {
			a.Log.Error("withdrawal of a batch panicked", "account", r.Account, "cause", cause)
			result = batchResult{Reference: r.Reference, Error: shown(errInternal)}
		}
	}()
	w, err := a.Withdrawals.Request(ctx, r)
	if err == nil {
		var view wire.Withdrawal
		if view, err = a.viewWithdrawal(w); err == nil {
			result.Withdrawal = &view
			return result
		}
	}
	refusal, hidden := refusalOf(err)
	if hidden {
		a.Log.Error("withdrawal of a batch failed", "account", r.Account, "error", err)
	}
	result.Error = shown(refusal)
	return result
}

// batch reads the withdrawals of a batch. What has not the form of one refuses the whole batch, as do two with one
// reference.
func (c *call) batch() (requests []withdrawal.Request) {
	v, sent := c.in.params["withdrawals"]
	var items []batchItem
	if !sent || v.kind == number || json.Unmarshal([]byte(v.text), &items) != nil || len(items) == 0 ||
		len(items) > maxBatch {
		c.in.refuse("withdrawals", "withdrawals is required: a JSON array of 1 to %d objects with currency, amount, address "+
			"and reference", maxBatch)
		return nil
	}
	seen := map[string]bool{}
	for i, item := range items {
		amount, ok := item.amount()
		switch {
		case !ok:
			c.in.refuse("withdrawals", "the amount of number %d must be a number or a string", i+1)
		case item.Reference == "" || seen[item.Reference]:
			c.in.refuse("withdrawals", "number %d must have a reference, and one of its own", i+1)
		}
		seen[item.Reference] = true
		requests = append(requests, withdrawal.Request{
			Account:   c.identity.Account,
			Currency:  bursar.CurrencyCode(item.Currency),
			Amount:    amount,
			Address:   item.Address,
			Reference: item.Reference,
			Metadata:  item.Metadata,
			Order:     withdrawal.Order{Text: item.Order, Signature: item.Signature},
			By:        bursar.KeyRequester(c.identity.Key.ID),
		})
	}
	return requests
}

// amount returns the text of a number, which is never read as a floating-point number.
func (item batchItem) amount() (text string, ok bool) {
	switch item.Amount.Kind() {
	case '0':
		return strings.TrimSpace(string(item.Amount)), true
	case '"':
		err := json.Unmarshal(item.Amount, &text)
		return text, err == nil
	}
	return "", false
}
