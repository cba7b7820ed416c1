// Package dashboard is the operator's page: how each chain stands, what waits, and what is wrong. It only reads.
package dashboard

import (
	"context"
	"embed"
	"html/template"
	"net/http"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

//go:embed page.html
var files embed.FS

// Config is what the page reads from. Hot names our own address on a chain.
type Config struct {
	DB       *store.DB
	Registry *bursar.Registry
	Hot      func(bursar.ChainID) string
}

// page is what the template shows.
type page struct {
	At          time.Time
	Database    string
	Chains      []chainRow
	Assets      []assetRow
	Withdrawals []withdrawalRow
	Undecided   []undecidedRow
	Alarms      []store.Alarm
}

type chainRow struct {
	store.ChainState
	Behind int64
	Hot    string
}

type assetRow struct {
	Code                   bursar.Code
	Custody, Owed, Capital string
}

type withdrawalRow struct {
	bursar.Withdrawal
	Amount string
}

// Handler returns the page. It refreshes itself.
func Handler(c Config) http.Handler {
	view := template.Must(template.ParseFS(files, "page.html"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		p, err := c.read(ctx)
		if err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		view.Execute(w, p)
	})
}

func (c Config) read(ctx context.Context) (page, error) {
	p := page{At: c.DB.Now(), Database: "SQLite"}
	if c.DB.Postgres() {
		p.Database = "PostgreSQL"
	}
	err := c.DB.View(ctx, func(tx *store.Tx) error {
		chains, err := tx.ChainStates(ctx)
		if err != nil {
			return err
		}
		for _, s := range chains {
			p.Chains = append(p.Chains, chainRow{s, int64(s.Latest) - s.Height, c.Hot(s.Chain)})
		}
		if p.Assets, err = c.assets(ctx, tx); err != nil {
			return err
		}
		if p.Withdrawals, err = c.withdrawals(ctx, tx); err != nil {
			return err
		}
		if p.Undecided, err = c.undecided(ctx, tx); err != nil {
			return err
		}
		p.Alarms, err = tx.Alarms(ctx, 50)
		return err
	})
	return p, err
}

// assets sums what the books hold and owe of each currency.
func (c Config) assets(ctx context.Context, tx *store.Tx) ([]assetRow, error) {
	var list []assetRow
	for _, currency := range c.Registry.All() {
		custody, err := tx.Balance(ctx, ledger.Custody, currency.Code)
		if err != nil {
			return nil, err
		}
		capital, err := tx.Balance(ctx, ledger.Capital, currency.Code)
		if err != nil {
			return nil, err
		}
		owed, err := tx.LiabilitySum(ctx, currency.Code)
		if err != nil {
			return nil, err
		}
		if custody == (ledger.Balance{}) {
			continue
		}
		held, _ := custody.Net(ledger.Asset)
		own, _ := capital.Net(ledger.Equity)
		list = append(list, assetRow{Code: currency.Code, Custody: currency.Exact(held), Owed: currency.Exact(owed), Capital: currency.Exact(own)})
	}
	return list, nil
}

func (c Config) withdrawals(ctx context.Context, tx *store.Tx) ([]withdrawalRow, error) {
	list, err := tx.Withdrawals(ctx, bursar.ID{}, store.Page{Limit: 20})
	if err != nil {
		return nil, err
	}
	rows := make([]withdrawalRow, len(list))
	for i, w := range list {
		currency, err := c.Registry.Get(w.Currency)
		if err != nil {
			return nil, err
		}
		rows[i] = withdrawalRow{w, currency.Exact(w.Amount)}
	}
	return rows, nil
}
