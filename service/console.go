package service

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/console"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/tlsfile"
)

// People returns the people of the console. Passkeys are bound to its URL: call it once Listen has bound the addresses.
func (s *Service) People() (*operator.Service, error) {
	people, err := operator.NewService(operator.Config{
		DB:   s.DB,
		IDs:  s.IDs,
		URL:  ConsoleURL(s.parts.Console.URL, s.parts.AdminListen, s.parts.Admin.TLS != tlsfile.Files{}),
		Hold: s.parts.Console.RoleHold,
	})
	if err != nil {
		return nil, fmt.Errorf("the console: %w", err)
	}
	return people, nil
}

// evaluateProposals has proposals carried out where no console is served: approved ones must not wait for a replica
// that serves one. Without a configured URL this replica does not know to what the passkeys are bound, and leaves them
// alone.
func (s *Service) evaluateProposals() error {
	if s.parts.AdminListen != "" || s.parts.Console.URL == "" {
		return nil
	}
	people, err := s.People()
	if err == nil {
		console.Evaluate(s.Proposals, people, personKeys(s.parts.Console))
	}
	return err
}

// console returns the operator's console.
func (s *Service) console() (*console.Console, error) {
	people, err := s.People()
	if err != nil {
		return nil, err
	}
	return console.New(console.Config{
		DB:       s.DB,
		Registry: s.Registry,
		IDs:      s.IDs,
		Log:      s.log,
		People:   people,
		SSHKeys:  personKeys(s.parts.Console),
		Sheets:   s.sheets(),
		Client:   api.Proxies{Networks: s.parts.Proxies, Header: s.parts.ProxyHeader}.Client,
		Acts: console.Acts{
			Withdrawals:    s.Withdrawals,
			Limits:         s.Limits,
			Charges:        s.Charges,
			Unattributed:   s.Unattributed,
			Accounts:       s.Accounts,
			TestDeliveries: s.TestDeliveries,
			Proposals:      s.Proposals,
			Approvals:      s.Approvals,
			Wake:           s.Deliverer.Wake,
			Rescan:         s.rescan,
		},
	})
}

// rescan searches blocks of a chain again, beside its follower.
func (s *Service) rescan(ctx context.Context, id bursar.ChainID, tx string, from, to uint64) (int, error) {
	f, err := s.Follower(id)
	if err != nil {
		return 0, err
	}
	if tx == "" {
		return f.Rescan(ctx, from, to)
	}
	if _, err := f.RescanTx(ctx, tx); err != nil {
		return 0, err
	}
	return 1, nil
}

// ConsoleURL returns where browsers open the console: the configured URL, or localhost with the port of the admin
// address.
func ConsoleURL(configured, listen string, secure bool) string {
	if configured != "" {
		return configured
	}
	_, port, _ := net.SplitHostPort(listen) // the configuration has checked it
	at := url.URL{Scheme: "http", Host: net.JoinHostPort("localhost", port)}
	if secure {
		at.Scheme = "https"
	}
	return at.String()
}

// hostOf returns the host name of a URL, empty for none.
func hostOf(text string) string {
	at, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return at.Hostname()
}
