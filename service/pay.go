package service

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/pay"
	"github.com/bursar/bursar/wire"
)

// Pay is the payer's page as it is configured. The zero Pay is none.
type Pay struct {
	URL       string // scheme and host
	Brand     pay.Brand
	Brands    map[bursar.ID]pay.Brand // of accounts that have their own
	Explorers map[bursar.ChainID]string

	WalletApps []string // keys of wallets that pages link to by their makers' sites
}

// Checkout returns where payers' pages are.
func (p Pay) Checkout() wire.Checkout {
	c := wire.Checkout{URL: p.URL, Name: p.Brand.Name, Names: map[bursar.ID]string{}}
	for id, brand := range p.Brands {
		c.Names[id] = brand.Name
	}
	return c
}

// at returns the payer's page as it is where the API has been bound to an address: a URL with port 0 gets its port.
func (p Pay) at(listen string) Pay {
	u, err := url.Parse(p.URL)
	if err != nil || u.Port() != "0" {
		return p
	}
	if _, port, err := net.SplitHostPort(listen); err == nil {
		u.Host = net.JoinHostPort(u.Hostname(), port)
		p.URL = u.String()
	}
	return p
}

// payOf reads what the configuration names.
func payOf(c config.Pay) (p Pay, err error) {
	p = Pay{URL: c.URL, Explorers: c.Explorers, Brands: map[bursar.ID]pay.Brand{}, WalletApps: c.WalletApps}
	if p.Brand, err = brandOf(c.Brand); err != nil {
		return p, err
	}
	for id, brand := range c.Accounts {
		if p.Brands[id], err = brandOf(brand); err != nil {
			return p, fmt.Errorf("account %s: %w", id, err)
		}
	}
	return p, nil
}

func brandOf(c config.Brand) (b pay.Brand, err error) {
	b = pay.Brand{Name: c.Name, Accent: c.Accent, OnAccent: c.OnAccent, Frames: c.FrameAncestors}
	if c.Logo == "" {
		return b, nil
	}
	file, err := os.Open(c.Logo)
	if err != nil {
		return b, fmt.Errorf("read pay.logo: %w", err)
	}
	b.Logo, err = io.ReadAll(io.LimitReader(file, pay.MaxLogo+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return b, fmt.Errorf("read pay.logo: %w", err)
	}
	return b, nil
}

// newPages returns the handler of payers' pages, nil where none are configured.
func (s *Service) newPages() (*pay.Handler, error) {
	if s.parts.Pay.URL == "" {
		return nil, nil
	}
	c := pay.Config{
		Find:     s.Charges.Shown,
		Changes:  s.Charges.Changes,
		Quote:    s.Charges.Quote,
		Refund:   s.Charges.ProposeRefund,
		FindLink: s.Charges.LinkByToken,
		FromLink: s.Charges.FromLink,
		Registry: s.Registry,
		Networks: s.payNetworks(),
		Checkout: s.parts.Pay.Checkout(),
		Brand:    s.parts.Pay.Brand,
		Brands:   s.parts.Pay.Brands,
		Apps:     s.parts.Pay.WalletApps,
		Now:      s.DB.Now,
		Sleep:    s.DB.Sleep,
		Log:      s.log.With("component", "pay"),
	}
	if s.parts.Prices != nil {
		c.Prices = s.parts.Prices.Price
	}
	h, err := pay.New(c)
	if err != nil {
		return nil, fmt.Errorf("prepare the payer's page: %w", err)
	}
	return h, nil
}

// payNetworks returns what the page says of the chains.
func (s *Service) payNetworks() map[bursar.ChainID]pay.Network {
	networks := map[bursar.ChainID]pay.Network{}
	for id, w := range s.workers {
		d := registry.Of(id)
		networks[id] = pay.Network{
			Name:          d.Name,
			Standard:      d.Standard,
			BlockTime:     d.BlockTime,
			Confirmations: w.chain.Capabilities().Confirmations,
			Explorer:      s.parts.Pay.Explorers[id],
		}
	}
	return networks
}
