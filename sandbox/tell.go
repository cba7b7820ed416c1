package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/bursar/bursar"
)

// facts is what a client needs to begin.
type facts struct {
	API           string                        `json:"api"`
	Dashboard     string                        `json:"dashboard"`
	Control       string                        `json:"control"`
	AccountID     string                        `json:"accountID"`
	APIKey        string                        `json:"apiKey"`
	APISecret     string                        `json:"apiSecret"`
	WebhookSecret string                        `json:"webhookSecret"`
	Chains        map[bursar.ChainID]chainFacts `json:"chains"`

	webhook string
	native  bursar.CurrencyCode // of the first chain
}

type chainFacts struct {
	RPC string `json:"rpc"`
}

func (s *environment) facts() facts {
	f := facts{Control: s.control.URL(),
		AccountID: s.account.AccountID, APIKey: s.account.APIKey, APISecret: s.account.APISecret,
		WebhookSecret: s.account.WebhookSecret,
		Chains:        map[bursar.ChainID]chainFacts{}, webhook: s.receiver.URL()}
	if f.API, f.Dashboard = "http://"+s.flags.listen, "http://"+s.flags.admin; !s.flags.remoteSigner {
		f.API, f.Dashboard = s.service.Address("api"), s.service.Address("admin")
	}
	for _, c := range s.chains {
		f.Chains[c.ID] = chainFacts{RPC: c.RPC}
	}
	if native, found := s.registry.Asset(s.chains[0].ID, ""); found {
		f.native = native.Code
	}
	return f
}

// describe prints one line for a program, or what to try next for a person.
func describe(out io.Writer, flags settings, f facts) error {
	if flags.json {
		return json.NewEncoder(out).Encode(f)
	}
	_, err := fmt.Fprintf(out, `
The sandbox is ready. Its chains are its own: no coin here is worth anything.

  API         %s/api/v1
  Dashboard   %s
  Control     %s
  Account     %s
  API key     %s
  API secret  %s
  Webhooks    %s
`, f.API, f.Dashboard, f.Control, f.AccountID, f.APIKey, f.APISecret, f.WebhookSecret)
	if err != nil {
		return err
	}
	for _, id := range flags.chains {
		if _, err := fmt.Fprintf(out, "  %-10s  %s\n", id, f.Chains[id].RPC); err != nil {
			return err
		}
	}
	return suggest(out, flags, f)
}

// suggest prints three commands that follow each other.
func suggest(out io.Writer, flags settings, f facts) error {
	_, err := fmt.Fprintf(out, `
Create a wallet, pay it, and see the balance some seconds later:

  ADDRESS=$(curl -s %[1]s/api/v1/wallet -H 'X-API-KEY: %[2]s' -d currency=%[3]s -d webhook=%[4]s | sed 's/.*"address":"\([^"]*\).*/\1/')
  curl -s %[5]s/pay -d '{"currency":"%[3]s","address":"'$ADDRESS'","amount":"1"}'
  curl -s %[1]s/api/v1/account -H 'X-API-KEY: %[2]s'

GET %[5]s/webhooks shows the webhooks that came. docs/sandbox.md says what else the control does.

`, f.API, f.APIKey, f.native, f.webhook, f.Control)
	if err != nil || !flags.manual {
		return err
	}
	_, err = fmt.Fprintf(out, "Blocks come when asked for:\n\n  curl -s %s/mine -d '{\"chain\":\"%s\",\"blocks\":4}'\n\n",
		f.Control, flags.chains[0])
	return err
}
