package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/bursar/bursar"
)

// startInfo is what a client needs to start.
type startInfo struct {
	API           string                       `json:"api"`
	Dashboard     string                       `json:"dashboard"` // the admin address: metrics and the console
	Console       string                       `json:"console"`
	Invitations   []invitation                 `json:"invitations"`
	Control       string                       `json:"control"`
	Shop          string                       `json:"shop"`
	AccountID     string                       `json:"accountID"`
	APIKey        string                       `json:"apiKey"`
	APISecret     string                       `json:"apiSecret"`
	WebhookSecret string                       `json:"webhookSecret"`
	Chains        map[bursar.ChainID]chainInfo `json:"chains"`

	webhook string
	native  bursar.CurrencyCode // native asset of the first chain
}

type chainInfo struct {
	RPC string `json:"rpc"`
}

func (s *environment) startInfo() startInfo {
	f := startInfo{Control: s.control.URL(), Shop: s.shop.URL(),
		AccountID: s.account.AccountID, APIKey: s.account.APIKey, APISecret: s.account.APISecret,
		WebhookSecret: s.account.WebhookSecret, Console: s.console, Invitations: s.invitations,
		Chains: map[bursar.ChainID]chainInfo{}, webhook: s.receiver.URL()}
	f.API, f.Dashboard = s.apiURL(), "http://"+s.config.AdminListen
	if !s.flags.separateService {
		f.Dashboard = s.service.Address("admin")
	}
	for _, c := range s.chains {
		f.Chains[c.ID] = chainInfo{RPC: c.RPC}
	}
	if native, found := s.registry.Asset(s.chains[0].ID, ""); found {
		f.native = native.Code
	}
	return f
}

// apiURL is the URL of the API, without a path.
func (s *environment) apiURL() string {
	if s.flags.separateService {
		return "http://" + s.config.Listen
	}
	return s.service.Address("api")
}

// describe prints one line of JSON for a program, or the addresses and what to try next for a person.
func describe(out io.Writer, flags settings, f startInfo) error {
	if flags.json {
		return json.NewEncoder(out).Encode(f)
	}
	_, err := fmt.Fprintf(out, `
The sandbox is ready. Its chains run on this machine only: nothing on them has any value.

  API         %s/api/v1
  Admin       %s
  Control     %s
  Demo shop   %s
  Account     %s
  API key     %s
  API secret  %s
  Webhooks    %s
`, f.API, f.Dashboard, f.Control, f.Shop, f.AccountID, f.APIKey, f.APISecret, f.WebhookSecret)
	if err != nil {
		return err
	}
	for _, id := range flags.chains {
		if _, err := fmt.Fprintf(out, "  %-10s  %s\n", id, f.Chains[id].RPC); err != nil {
			return err
		}
	}
	if err := invite(out, f); err != nil {
		return err
	}
	return suggest(out, flags, f)
}

// invite prints where the console is, and the links of its people.
func invite(out io.Writer, f startInfo) error {
	if f.Console == "" {
		return nil
	}
	_, err := fmt.Fprintf(out, "\nThe operator's console is at %s\n", f.Console)
	if err != nil || len(f.Invitations) == 0 {
		return err
	}
	_, err = fmt.Fprint(out, "Each link makes one passkey, once, within 15 minutes. One person proposes a payment, the "+
		"other approves it:\n\n")
	for _, i := range f.Invitations {
		if err == nil {
			_, err = fmt.Fprintf(out, "  %-10s  %s\n", i.Name, i.Link)
		}
	}
	return err
}

// suggest prints three commands to run one after the other.
func suggest(out io.Writer, flags settings, f startInfo) error {
	_, err := fmt.Fprintf(out, `
Create a wallet, pay it, and read the balance some seconds later:

  ADDRESS=$(curl -s %[1]s/api/v1/wallet -H 'X-API-KEY: %[2]s' -d currency=%[3]s -d webhook=%[4]s | sed 's/.*"address":"\([^"]*\).*/\1/')
  curl -s %[5]s/pay -d '{"currency":"%[3]s","address":"'$ADDRESS'","amount":"1"}'
  curl -s %[1]s/api/v1/account -H 'X-API-KEY: %[2]s'

An account that signs its withdrawals as orders, with its key; examples/order-js signs one:

  curl -s %[5]s/account -d '{"name":"signs","orders":true}'

GET %[5]s/webhooks lists the webhooks that were received. docs/sandbox.md lists the rest of the remote control.

`, f.API, f.APIKey, f.native, f.webhook, f.Control)
	if err != nil || !flags.manual {
		return err
	}
	_, err = fmt.Fprintf(out, "Blocks are mined only on request:\n\n  curl -s %s/mine -d "+
		"'{\"chain\":\"%s\",\"blocks\":4}'\n\n",
		f.Control, flags.chains[0])
	return err
}
