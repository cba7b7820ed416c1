package clients

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/pay/paytest"
)

// unlinked are the currencies that have no payment link: payers have the code of the address alone.
var unlinked = map[bursar.CurrencyCode]bool{"USDT": true}

// asks is how much each charge of this test asks for, with every decimal that a charge may have.
const asks = "1.25…1"

// onPage is what a payer's page of one charge gives a wallet.
type onPage struct {
	currency             bursar.Currency
	charge               client.Charge
	form                 string // of the QR code that the payer asks for
	svg                  string
	link                 string // that the button opens; "": there is none
	address, tag, amount string // what its buttons copy
	scanned              string // what zbarimg reads in the code
	read                 saying // what a library reads in the link
}

// TestPayersPayWhatTheirWalletsRead pays charges in every currency twice, and the service counts exactly what is due.
// One payer opens the link of the page, which its QR code holds too, and pays what a library of others reads in it and
// nothing else; on an EVM chain only where the link names the chain of the node. The other payer scans the code of the
// address, and copies the amount and the tag from the page. Those who pay are the third-party clients.
func TestPayersPayWhatTheirWalletsRead(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs Node.js, zbarimg and the client libraries")
	}
	folder, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t)
	api, err := client.New(client.Config{BaseURL: s.API, Key: s.APIKey, Secret: s.APISecret})
	if err != nil {
		t.Fatal(err)
	}
	currencies := s.currencies(t)
	var pages []*onPage
	for _, c := range bursar.Standard() {
		for _, form := range []string{"link", "address"} {
			if p := s.pageOf(t, api, c, form); form == "address" || p.link != "" {
				pages = append(pages, p)
			} else if !unlinked[c.Code] {
				t.Errorf("the page of a charge in %s has no link, want one", c.Code)
			}
		}
	}
	scan(t, pages)
	readPages(t, pages)
	for _, p := range pages {
		t.Run(string(p.currency.Code)+" by the code of the "+p.form, func(t *testing.T) {
			t.Parallel()
			by, d := libraries()[registry.Of(p.currency.Chain).Family], currencies[string(p.currency.Code)]
			introduction := map[string]any{"folder": folder, "module": by.module}
			if p.form == "link" {
				introduction["chainID"] = p.read.Chain
				d.Contract = nil // the payer knows of a token what the link says
				if p.read.Contract != "" {
					d.Contract = &p.read.Contract
				}
			}
			clientRunOf(t, s, p.currency, d, introduction).paysPage(t, api, p, by)
		})
	}
}

// pageOf makes a charge and opens its page as a payer does.
func (s *sandbox) pageOf(t *testing.T, api *client.Client, c bursar.Currency, form string) *onPage {
	t.Helper()
	var hook struct{ URL string }
	if err := ask(http.MethodGet, s.Control+"/webhooks/url", nil, nil, &hook); err != nil {
		t.Fatal(err)
	}
	charge, err := api.CreateSum(t.Context(), client.NewSum{Currencies: []string{string(c.Code)},
		Amount: exact(asks, c.Places), Webhook: hook.URL, Life: time.Hour})
	if err != nil {
		t.Fatalf("charge in %s: %v", c.Code, err)
	}
	page := opened(t, charge.CheckoutURL+"?form="+form)
	p := &onPage{currency: c, charge: charge, form: form,
		svg:     regexp.MustCompile(`(?s)<svg.*?</svg>`).FindString(page),
		link:    captured(page, `<a class="main wallet" href="([^"]*)"`),
		address: captured(page, `data-copy="([^"]*)"[^>]* id="copy-address"`),
		tag:     captured(page, `data-copy="([^"]*)"[^>]* id="copy-tag"`),
		amount:  captured(page, `data-copy="([^"]*)"[^>]* id="copy-amount"`),
	}
	if p.svg == "" || p.address == "" || plain(p.amount) != plain(charge.Due) {
		t.Fatalf("the page of a charge of %s %s asks for %q to %q with the code %.40q, want all of it", charge.Due, c.Code,
			p.amount, p.address, p.svg)
	}
	return p
}

func captured(page, pattern string) string {
	found := regexp.MustCompile(pattern).FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	return html.UnescapeString(found[1])
}

func opened(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := httpClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %d %v, want the payer's page", url, answer.StatusCode, err)
	}
	return string(text)
}

// scan has one process of zbarimg read the codes of all pages.
func scan(t *testing.T, pages []*onPage) {
	t.Helper()
	folder := t.TempDir()
	args := []string{"--quiet", "--raw", "-Sdisable", "-Sqrcode.enable"}
	for i, p := range pages {
		name := filepath.Join(folder, fmt.Sprintf("%02d.png", i))
		file, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(paytest.WritePicture(file, p.svg), file.Close()); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	out, err := exec.CommandContext(t.Context(), "zbarimg", args...).Output()
	if err != nil {
		t.Fatalf("zbarimg, which go run ./test -install zbar installs: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(pages) {
		t.Fatalf("zbarimg reads %d codes of %d:\n%s", len(lines), len(pages), out)
	}
	for i, p := range pages {
		p.scanned = lines[i]
	}
}

// readPages has libraries read the links, which are what the codes hold.
func readPages(t *testing.T, pages []*onPage) {
	t.Helper()
	var links []string
	var of []*onPage
	for _, p := range pages {
		if p.form != "link" {
			continue
		}
		if p.scanned != p.link {
			t.Errorf("the code of a charge in %s holds %s, want %s, which the page's button opens", p.currency.Code,
				p.scanned, p.link)
		}
		links, of = append(links, p.scanned), append(of, p)
	}
	for i, said := range readLinks(t, links) {
		if said.Error != "" {
			t.Errorf("%s cannot be read: %s", links[i], said.Error)
		}
		of[i].read = said
	}
}

// share is what the payer's wallet pays.
func (p *onPage) share() share {
	to := share{Address: p.read.Address, Amount: p.read.Amount, Units: p.read.Units}
	tag := p.read.Tag
	if p.form == "address" {
		to, tag = share{Address: p.scanned, Amount: p.amount}, p.tag
	}
	if tag != "" {
		to.Address += ":" + tag
	}
	return to
}

// paysPage pays what a page asks for, and waits until the charge is paid by exactly that.
func (m *clientRun) paysPage(t *testing.T, api *client.Client, p *onPage, by library) {
	t.Helper()
	to := p.share()
	hash := m.pay(t, by.payments[0].form, []share{to})
	want := cmp.Or(plain(p.charge.Required.Amount), "nothing")
	m.eventually(t, m.Chain, "charge in "+m.currency, func() error {
		now, err := api.Charge(t.Context(), p.charge.ChargeID)
		if err != nil || now.Status != client.SumPaid {
			return fmt.Errorf("it is %s %v with payments %+v, want paid: %v", now.Status, now.Labels, now.Payments, err)
		}
		if len(now.Labels) != 0 || plain(now.Received) != want || len(now.Payments) != 1 ||
			now.Payments[0].HashID != hash || plain(now.Payments[0].Amount) != want || !now.Payments[0].Counted {
			t.Fatalf("paid %+v in %s; the charge received %s by %+v with labels %v, want %s by that payment and no label",
				to, hash, now.Received, now.Payments, now.Labels, want)
		}
		return nil
	})
}
