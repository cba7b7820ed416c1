package control

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/sandbox/fault"
)

const (
	maxPayments = 300
	maxBlocks   = 1000
	maxDepth    = 100
	maxDrop     = 1000
)

type payment struct {
	Address string         `json:"address"`
	Amount  jsontext.Value `json:"amount"`
}

// payRequest is either one payment or a list of them.
type payRequest struct {
	Currency bursar.CurrencyCode `json:"currency"`
	Address  string              `json:"address"`
	Amount   jsontext.Value      `json:"amount"`
	Payments []payment           `json:"payments"`
}

// pay pays from the faucet, all payments in one transaction.
func (s *Server) pay(_ *http.Request, body []byte) (any, error) {
	var request payRequest
	if err := read(body, &request); err != nil {
		return nil, err
	}
	currency, chain, err := s.currency(request.Currency)
	if err != nil {
		return nil, err
	}
	list := request.Payments
	switch single := request.Address != "" || request.Amount != nil; {
	case single && list != nil:
		return nil, wrong("give either address and amount, or payments, not both")
	case single:
		list = []payment{{request.Address, request.Amount}}
	case len(list) == 0 || len(list) > maxPayments:
		return nil, wrong("give 1 to %d payments: address and amount, or payments", maxPayments)
	}
	payments := make([]chains.Payment, len(list))
	for i, p := range list {
		if p.Address == "" {
			return nil, wrong("address is missing")
		}
		amount, err := parseAmount(currency, p.Amount)
		if err != nil {
			return nil, err
		}
		payments[i] = chains.Payment{Address: p.Address, Amount: amount}
	}
	hash, err := chain.Pay(currency, payments)
	if err != nil {
		return nil, wrong("%s", err) // only the addresses and amounts can be wrong
	}
	return map[string]string{"hashID": hash}, nil
}

// parseAmount reads a number, or a string of the same text, with the exact decimals of the chain.
func parseAmount(c bursar.Currency, raw jsontext.Value) (bursar.Amount, error) {
	text := strings.TrimSpace(string(raw))
	switch raw.Kind() {
	case '"':
		if err := json.Unmarshal(raw, &text); err != nil {
			return bursar.Amount{}, wrong("amount: %s", err)
		}
	case '0':
	default:
		return bursar.Amount{}, wrong("amount must be a decimal number or a string of one")
	}
	amount, err := bursar.ParseDecimal(text, c.Decimals)
	if err != nil {
		return amount, wrong("amount %.50q: %s; %s has %d decimals", text, err, c.Code, c.Decimals)
	}
	if amount.IsZero() {
		return amount, wrong("amount must be more than zero")
	}
	return amount, nil
}

// mine mines blocks.
func (s *Server) mine(_ *http.Request, body []byte) (any, error) {
	request := struct {
		Chain  bursar.ChainID `json:"chain"`
		Blocks int            `json:"blocks"`
	}{Blocks: 1}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	chain, err := s.chain(request.Chain)
	if err != nil {
		return nil, err
	}
	if request.Blocks < 1 || request.Blocks > maxBlocks {
		return nil, wrong("blocks is out of range: use 1 to %d", maxBlocks)
	}
	if err := chain.Mine(request.Blocks); err != nil {
		return nil, err
	}
	return map[string]uint64{"height": chain.Height()}, nil
}

// reorg replaces blocks.
func (s *Server) reorg(_ *http.Request, body []byte) (any, error) {
	var request struct {
		Chain bursar.ChainID `json:"chain"`
		Depth int            `json:"depth"`
		Drop  []string       `json:"drop"`
	}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	chain, err := s.chain(request.Chain)
	if err != nil {
		return nil, err
	}
	if request.Depth < 1 || request.Depth > maxDepth {
		return nil, wrong("depth is out of range: use 1 to %d", maxDepth)
	}
	if len(request.Drop) > maxDrop {
		return nil, wrong("transactions to drop: at most %d are allowed", maxDrop)
	}
	if err := chain.Reorg(request.Depth, request.Drop); err != nil {
		return nil, wrong("%s", err) // a depth or a transaction that the chain does not have
	}
	return map[string]uint64{"height": chain.Height()}, nil
}

// blocks selects automatic or manual mining: on one chain, or on all.
func (s *Server) blocks(_ *http.Request, body []byte) (any, error) {
	var request struct {
		Chain bursar.ChainID `json:"chain"`
		Mode  string         `json:"mode"`
	}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	if request.Mode != "auto" && request.Mode != "manual" {
		return nil, wrong("mode must be auto or manual")
	}
	list := s.Chains
	if request.Chain != "" {
		chain, err := s.chain(request.Chain)
		if err != nil {
			return nil, err
		}
		list = []*chains.Chain{chain}
	}
	for _, c := range list {
		c.SetManual(request.Mode == "manual")
	}
	return map[string]string{"mode": request.Mode}, nil
}

type faultAnswer struct {
	Chain    bursar.ChainID `json:"chain"`
	Endpoint int            `json:"endpoint"`
	Kind     fault.Kind     `json:"kind"`
	Until    time.Time      `json:"until"`
}

// fault makes a node misbehave for a while: at one of its endpoints, or at all.
func (s *Server) fault(_ *http.Request, body []byte) (any, error) {
	var request struct {
		Chain    bursar.ChainID `json:"chain"`
		Endpoint int            `json:"endpoint"`
		Kind     fault.Kind     `json:"kind"`
		Seconds  *int           `json:"seconds"`
	}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	chain, err := s.chain(request.Chain)
	if err != nil {
		return nil, err
	}
	if request.Seconds == nil || *request.Seconds < 0 || *request.Seconds > int(fault.MaxDuration/time.Second) {
		return nil, wrong("seconds is out of range: use 0 to %d", fault.MaxDuration/time.Second)
	}
	duration := time.Duration(*request.Seconds) * time.Second
	if slices.Contains(fault.WireKinds(), request.Kind) {
		if err := chain.Wire.Set(request.Kind, duration); err != nil {
			return nil, wrong("%s", err)
		}
		return faultAnswer{request.Chain, 0, request.Kind, s.Now().Add(duration).UTC()}, nil
	}
	list := chain.Endpoints
	if request.Endpoint < 0 || request.Endpoint > len(list) {
		return nil, wrong("endpoint is out of range: use 1 to %d, or leave it out for all", len(list))
	}
	if request.Endpoint > 0 {
		list = list[request.Endpoint-1 : request.Endpoint]
	}
	for _, e := range list {
		if err := e.Faults.Set(request.Kind, duration); err != nil {
			return nil, wrong("%s", err)
		}
	}
	return faultAnswer{request.Chain, request.Endpoint, request.Kind, s.Now().Add(duration).UTC()}, nil
}
