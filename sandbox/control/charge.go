package control

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/sandbox/chains"
)

// The ways to pay a charge. Each moves coins as a payer would, and what becomes of them is the service's decision.
const (
	PayExact        = "exact"         // what is due
	PayPartial      = "partial"       // half of it
	PayOver         = "over"          // half as much again
	PayLate         = "late"          // what is due, after the charge's end
	PayOtherAsset   = "other_asset"   // another currency of the same chain
	PayOtherNetwork = "other_network" // another chain on which the address exists
	PayNoTag        = "no_tag"        // to the address without its tag
	PayReorg        = "reorg"         // what is due, in a block that is then replaced by one without it
)

// PayHows lists the ways to pay a charge.
func PayHows() []string {
	return []string{PayExact, PayPartial, PayOver, PayLate, PayOtherAsset, PayOtherNetwork, PayNoTag, PayReorg}
}

// maxWait bounds how long a payment is put off until its charge has ended.
const maxWait = time.Hour

// payCharge is a request to pay a charge whose deposits add up.
type payCharge struct {
	ChargeID string              `json:"chargeID"`
	APIKey   string              `json:"apiKey"`   // of the charge's account; empty: the sandbox's
	Currency bursar.CurrencyCode `json:"currency"` // empty: the charge's first
	Amount   jsontext.Value      `json:"amount"`   // nil: what the way of paying says
	How      string              `json:"how"`      // empty: exact
}

// chargePaid is its answer. HashID is empty for a payment that is made later, at PayAt.
type chargePaid struct {
	How      string              `json:"how"`
	Currency bursar.CurrencyCode `json:"currency"`
	Address  string              `json:"address"`
	Amount   string              `json:"amount"`
	HashID   string              `json:"hashID,omitempty"`
	PayAt    *time.Time          `json:"payAt,omitempty"`
}

// chargePayment is what a payer sends, and where.
type chargePayment struct {
	currency bursar.Currency
	chain    *chains.Chain
	address  string
	amount   bursar.Amount
}

// payCharge pays a charge in one of many ways, with coins of the sandbox.
func (s *Server) payCharge(r *http.Request, body []byte) (any, error) {
	request := payCharge{How: PayExact, APIKey: s.APIKey}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	if !slices.Contains(PayHows(), request.How) {
		return nil, wrong("how is %.40q: use one of %s", request.How, strings.Join(PayHows(), ", "))
	}
	api, err := client.New(client.Config{BaseURL: s.API, Key: request.APIKey})
	if err != nil {
		return nil, wrong("%s", err)
	}
	charge, option, err := quoted(r.Context(), api, request)
	if err != nil {
		return nil, err
	}
	p, err := s.paymentOf(request, option)
	if err != nil {
		return nil, err
	}
	answer := chargePaid{How: request.How, Currency: p.currency.Code, Address: p.address,
		Amount: p.currency.Exact(p.amount)}
	switch request.How {
	case PayLate:
		answer.PayAt, err = s.payLater(charge, p)
	case PayReorg:
		answer.HashID, err = s.payAndReorg(api, charge, p)
	default:
		answer.HashID, err = p.pay()
	}
	return answer, err
}

// quoted returns a charge and the option in which it is paid, which gets its address here if it has none yet.
func quoted(ctx context.Context, api *client.Client, request payCharge) (client.Charge, client.ChargeOption, error) {
	charge, err := api.Charge(ctx, request.ChargeID)
	if err != nil {
		return charge, client.ChargeOption{}, refusedBy(err)
	}
	if charge.Rule != "sum" || len(charge.Options) == 0 {
		return charge, client.ChargeOption{}, wrong("charge %.60q is paid by one deposit: use POST /pay", request.ChargeID)
	}
	currency := string(request.Currency)
	if currency == "" {
		currency = charge.Options[0].Currency
	}
	option := optionOf(charge, currency)
	if option == nil {
		return charge, client.ChargeOption{}, wrong("the charge cannot be paid in %.20q", currency)
	}
	if option.Address != "" {
		return charge, *option, nil
	}
	if charge, err = api.QuoteCharge(ctx, charge.ChargeID, currency); err != nil {
		return charge, client.ChargeOption{}, refusedBy(err)
	}
	return charge, *optionOf(charge, currency), nil
}

func optionOf(charge client.Charge, currency string) *client.ChargeOption {
	i := slices.IndexFunc(charge.Options, func(o client.ChargeOption) bool { return o.Currency == currency })
	if i < 0 {
		return nil
	}
	return &charge.Options[i]
}

// refusedBy turns a refusal of the service into one of the remote control.
func refusedBy(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) {
		return &mistake{refused.Status, "the service refuses: " + refused.Message}
	}
	return err
}

// paymentOf decides what is sent where.
func (s *Server) paymentOf(request payCharge, option client.ChargeOption) (chargePayment, error) {
	currency, chain, err := s.currency(bursar.CurrencyCode(option.Currency))
	if err != nil {
		return chargePayment{}, err
	}
	p := chargePayment{currency: currency, chain: chain, address: tagged(option)}
	switch request.How {
	case PayNoTag:
		if option.Tag == "" {
			return p, wrong("addresses of %s have no tag: use a charge in XRP", currency.Code)
		}
		p.address, _, _ = strings.Cut(option.Address, ":")
	case PayOtherAsset, PayOtherNetwork:
		if p.currency, p.chain, err = s.other(currency, request.How == PayOtherNetwork); err != nil {
			return p, err
		}
	}
	p.amount, err = amountOf(request, option, currency, p.currency)
	return p, err
}

// tagged is the address of an option with its tag, as POST /pay accepts it.
func tagged(o client.ChargeOption) string {
	if o.Tag == "" || strings.Contains(o.Address, ":") {
		return o.Address
	}
	return o.Address + ":" + o.Tag
}

// amountOf is the amount of the request, or what its way of paying says.
func amountOf(
	request payCharge, option client.ChargeOption, asked, sent bursar.Currency,
) (amount bursar.Amount, err error) {
	switch {
	case request.Amount != nil:
		return parseAmount(sent, request.Amount)
	case asked.Code != sent.Code:
		return sent.Parse("1")
	case option.Due == "":
		return amount, wrong("no rate is known for %s: give an amount", asked.Code)
	}
	due, err := asked.Parse(option.Due)
	if err != nil {
		return amount, err
	}
	half, _ := due.Div(2)
	switch request.How {
	case PayPartial:
		amount = half
	case PayOver:
		amount, err = due.Add(half)
	default:
		amount = due
	}
	if amount.IsZero() {
		return amount, wrong("nothing is due in %s any more: give an amount", asked.Code)
	}
	return amount, err
}

// other finds a currency that the address can hold too: of the same chain, or of another one with the same addresses.
func (s *Server) other(than bursar.Currency, network bool) (bursar.Currency, *chains.Chain, error) {
	for _, currency := range s.Registry.All() {
		same := currency.Chain == than.Chain
		if same == network || currency.Code == than.Code || network && !sameAddresses(currency.Chain, than.Chain) {
			continue
		}
		if chain, err := s.chain(currency.Chain); err == nil {
			return currency, chain, nil
		}
	}
	if network {
		return than, nil, wrong("no other chain that runs here has the addresses of %s", than.Chain)
	}
	return than, nil, wrong("%s has no other currency here", than.Chain)
}

// sameAddresses reports whether an address of one chain is one of the other.
func sameAddresses(a, b bursar.ChainID) bool { return registry.Of(a).Family == registry.Of(b).Family }

func (p chargePayment) pay() (string, error) {
	hash, err := p.chain.Pay(p.currency, []chains.Payment{{Address: p.address, Amount: p.amount}})
	if err != nil {
		return "", wrong("%s", err) // only the amount can be wrong
	}
	return hash, nil
}
