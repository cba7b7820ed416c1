package control

import (
	"net/http"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/fault"
	"github.com/bursar/bursar/sandbox/receiver"
)

// chainView is a chain in GET /chains.
type chainView struct {
	Height     uint64                `json:"height"`
	Currencies []bursar.CurrencyCode `json:"currencies"`
	Kind       string                `json:"kind"` // node or simulator
	Software   string                `json:"software"`
	RPC        string                `json:"rpc"`
	Push       string                `json:"push"`   // where the node announces blocks
	Blocks     string                `json:"blocks"` // auto or manual
	Fault      fault.Kind            `json:"fault"`  // empty without a fault
	Hot        string                `json:"hot"`    // the service's hot wallet address
}

func (s *Server) chains(*http.Request) (any, error) {
	views := map[bursar.ChainID]chainView{}
	for _, c := range s.Chains {
		v := chainView{
			Height:     c.Height(),
			Currencies: []bursar.CurrencyCode{},
			Kind:       "simulator",
			Software:   c.Software,
			RPC:        c.RPC,
			Push:       c.Wire.URL(),
			Blocks:     "auto",
			Hot:        s.Config.Hot[c.ID],
		}
		if c.Real {
			v.Kind = "node"
		}
		if c.Manual() {
			v.Blocks = "manual"
		}
		if v.Fault, _ = c.Faults.Current(); v.Fault == "" {
			v.Fault = c.Wire.Current()
		}
		for _, currency := range s.Registry.On(c.ID) {
			v.Currencies = append(v.Currencies, currency.Code)
		}
		views[c.ID] = v
	}
	return map[string]map[bursar.ChainID]chainView{"chains": views}, nil
}

// address creates an external address.
func (s *Server) address(_ *http.Request, body []byte) (any, error) {
	var request struct {
		Currency bursar.CurrencyCode `json:"currency"`
	}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	_, chain, err := s.currency(request.Currency)
	if err != nil {
		return nil, err
	}
	address, err := chain.NewAddress()
	if err != nil {
		return nil, err
	}
	return map[string]string{"address": address}, nil
}

// balance is the chain's own balance of an address.
func (s *Server) balance(r *http.Request) (any, error) {
	query := r.URL.Query()
	currency, chain, err := s.currency(bursar.CurrencyCode(query.Get("currency")))
	if err != nil {
		return nil, err
	}
	if query.Get("address") == "" {
		return nil, wrong("address is missing")
	}
	amount, err := chain.Balance(currency, query.Get("address"))
	if err != nil {
		return nil, wrong("%s", err)
	}
	return map[string]string{"balance": currency.Exact(amount)}, nil
}

// webhooks lists the deliveries to the built-in receiver.
func (s *Server) webhooks(*http.Request) (any, error) {
	return map[string][]receiver.Delivery{"deliveries": s.Receiver.Deliveries()}, nil
}

func (s *Server) apiURL(*http.Request) (any, error) {
	return map[string]string{"url": s.API}, nil
}

func (s *Server) webhookURL(*http.Request) (any, error) {
	return map[string]string{"url": s.Receiver.URL()}, nil
}

// answerWebhooks makes the built-in receiver refuse deliveries.
func (s *Server) answerWebhooks(_ *http.Request, body []byte) (any, error) {
	var request struct {
		Status int `json:"status"`
		Count  int `json:"count"`
	}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	if err := s.Receiver.Answer(request.Status, request.Count); err != nil {
		return nil, wrong("%s", err)
	}
	return request, nil
}

// screening sets what the screening service says of an address.
func (s *Server) screening(_ *http.Request, body []byte) (any, error) {
	var request struct {
		Address string `json:"address"`
		Verdict string `json:"verdict"`
	}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	if s.Screener == nil {
		return nil, wrong("nothing is screened: start the sandbox with --screening")
	}
	if err := s.Screener.Set(request.Address, request.Verdict); err != nil {
		return nil, wrong("%s", err)
	}
	return request, nil
}

// account creates another account of the service.
func (s *Server) account(r *http.Request, body []byte) (any, error) {
	var request struct {
		Name   string `json:"name"`
		Orders bool   `json:"orders"`
	}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	account, err := s.NewAccount(r.Context(), request.Name, request.Orders)
	if err != nil {
		return nil, wrong("%s", err)
	}
	return account, nil
}

// notify has an account send events of its withdrawals.
func (s *Server) notify(r *http.Request, body []byte) (any, error) {
	request := struct {
		AccountID string `json:"accountID"`
		Webhook   string `json:"webhook"`
	}{s.AccountID, s.Receiver.URL()}
	if err := read(body, &request); err != nil {
		return nil, err
	}
	id, err := bursar.ParseID(request.AccountID)
	if err != nil {
		return nil, wrong("accountID: %s", err)
	}
	changed, err := s.Notify(r.Context(), id, request.Webhook)
	if err != nil {
		return nil, wrong("%s", err)
	}
	return map[string]any{"accountID": request.AccountID, "changed": changed}, nil
}
