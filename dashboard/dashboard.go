// Package dashboard is the operator's page: the state of each chain, waiting items, and problems.
//
// It owns the page and none of its data. It only reads, asks no node, and shows nothing that a customer wrote, such as
// metadata. Its invariants: the page loads no other resource and runs no script, and the browser enforces that;
// everything that it shows is escaped; it is served completely or not at all.
package dashboard

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

//go:embed page.html
var files embed.FS

// Config is the page's data sources. Hot returns the hot wallet's address on a chain, Nodes the state of its nodes.
type Config struct {
	DB       *store.DB
	Registry *bursar.Registry
	Hot      func(bursar.ChainID) string
	Nodes    func(bursar.ChainID) []Node // may be nil
	Log      *slog.Logger                // may be nil
}

// Node is one node of a chain, as this process knows it. Name contains no credentials.
type Node struct {
	Name   string
	InUse  bool
	Height uint64
	Fault  string // the reason for its last cool-down
}

// page is the data of the template.
type page struct {
	At           time.Time
	Database     string
	Queues       []queueRow
	Chains       []chainRow
	Nodes        []nodeRow
	Assets       []assetRow
	Problems     []reconcile.Problem // of the solvency verdict
	Waiting      []withdrawalRow
	Withdrawals  []withdrawalRow
	Unattributed []unattributedRow
	Alarms       []store.Alarm
	Halts        []store.Halt
}

type chainRow struct {
	store.ChainState
	Behind int64
	Heard  string // how long ago a node last reported the chain's head
	Nodes  string
	Deaf   bool // none of its nodes is in use
	Hot    string
}

type nodeRow struct {
	Chain bursar.ChainID
	Node
}

type assetRow struct {
	Code               bursar.CurrencyCode
	Hot, Unswept, Cold string // parts of custody
	Custody, Owed, Own string
	Unattributed       string // empty: none
	Short              bool   // more is owed than is held
}

type withdrawalRow struct {
	bursar.Withdrawal
	Amount string
}

// Handler returns the page, which refreshes itself.
func Handler(c Config) http.Handler {
	view := template.Must(template.ParseFS(files, "page.html"))
	policy := policyOf(view)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		var text bytes.Buffer
		p, err := c.read(ctx)
		if err == nil {
			err = view.Execute(&text, p)
		}
		if err != nil {
			c.Log.Error("dashboard failed", "error", err)
			http.Error(w, "the page cannot be shown now; the log says why", http.StatusServiceUnavailable)
			return
		}
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		_, _ = w.Write(text.Bytes()) // a client that disconnected is not an error of ours
	})
}

// policyOf allows the page its own style, by its hash, and nothing else (Content Security Policy Level 3).
func policyOf(view *template.Template) string {
	_, rest, _ := strings.Cut(view.Tree.Root.String(), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

func (c Config) read(ctx context.Context) (page, error) {
	p := page{At: c.DB.Now(), Database: "SQLite"}
	if c.DB.Postgres() {
		p.Database = "PostgreSQL"
	}
	err := c.DB.View(ctx, func(tx *store.Tx) error {
		chains, err := tx.Chains().States(ctx)
		if err != nil {
			return err
		}
		if p.Halts, err = tx.Halts().List(ctx); err != nil {
			return err
		}
		for _, s := range chains {
			p.addChain(c, s)
		}
		if p.Queues, err = queues(ctx, tx, chains); err != nil {
			return err
		}
		if p.Assets, p.Problems, err = c.assets(ctx, tx); err != nil {
			return err
		}
		if p.Waiting, err = c.waiting(ctx, tx); err != nil {
			return err
		}
		if p.Withdrawals, err = c.withdrawals(ctx, tx); err != nil {
			return err
		}
		if p.Unattributed, err = c.unattributed(ctx, tx); err != nil {
			return err
		}
		p.Alarms, err = tx.Alarms().List(ctx, 50)
		return err
	})
	return p, err
}

// assets returns the solvency verdict by currency.
func (c Config) assets(ctx context.Context, tx *store.Tx) (list []assetRow, problems []reconcile.Problem, err error) {
	verdict, err := reconcile.Judge(ctx, tx, c.Registry)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range verdict.Lines {
		currency := p.Currency
		if p.Custody.IsZero() && p.Owed.IsZero() {
			continue
		}
		strange, err := tx.Ledger().Balance(ctx, ledger.Unattributed, currency.Code)
		if err != nil {
			return nil, nil, err
		}
		row := assetRow{
			Code:    currency.Code,
			Hot:     currency.Exact(p.Hot),
			Unswept: currency.Exact(p.Unswept),
			Cold:    currency.Exact(p.Cold),
			Custody: currency.Exact(p.Custody),
			Owed:    currency.Exact(p.Owed),
			Own:     currency.Exact(p.Own),
			Short:   !p.Uncovered.IsZero(),
		}
		if unattributed, _ := strange.Net(ledger.Liability); !unattributed.IsZero() {
			row.Unattributed = currency.Exact(unattributed)
		}
		list = append(list, row)
	}
	return list, verdict.Problems, nil
}

func (c Config) withdrawals(ctx context.Context, tx *store.Tx) ([]withdrawalRow, error) {
	list, err := tx.Withdrawals().List(ctx, bursar.ID{}, store.Page{Limit: 20})
	if err != nil {
		return nil, err
	}
	return c.rows(list), nil
}

// rows formats amounts. An amount of a currency that is no longer configured is in its smallest units.
func (c Config) rows(list []bursar.Withdrawal) []withdrawalRow {
	rows := make([]withdrawalRow, len(list))
	for i, w := range list {
		rows[i] = withdrawalRow{w, w.Amount.String() + " units"}
		if currency, err := c.Registry.Get(w.Currency); err == nil {
			rows[i].Amount = currency.Exact(w.Amount)
		}
	}
	return rows
}
