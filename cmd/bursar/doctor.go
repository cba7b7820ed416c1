package main

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
)

type doctorCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (doctorCommand) Help() string {
	return "Checks the configuration, the database, the seed file and its passphrase, every chain's nodes, and what waits for the operator. " +
		"Exits with 1 when a check failed; a warning is no failure.\n\nExample:\n\n    bursar doctor"
}

// Results of a check.
const (
	resultOK      = "ok"
	resultWarning = "warning"
	resultFailed  = "failed"
)

type finding struct {
	Check  string `json:"check"`
	Result string `json:"result"`
	Detail string `json:"detail"`
}

// examination gathers findings.
type examination struct {
	call     *call
	cfg      config.Config
	findings []finding
}

func (e *examination) note(check, result, format string, args ...any) {
	e.findings = append(e.findings, finding{check, result, fmt.Sprintf(format, args...)})
}

// Run checks one thing after the other; what depends on something that failed is left out.
func (cmd *doctorCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	e := &examination{call: c, cfg: cfg}
	e.configuration()
	hasDatabase := e.database(ctx)
	if e.seed(ctx) && hasDatabase {
		e.chains(ctx)
	}
	failed := 0
	for _, f := range e.findings {
		if f.Result == resultFailed {
			failed++
		}
	}
	err = list(c, cmd.JSON, e.findings, "CHECK RESULT DETAIL", func(f finding) []any { return []any{f.Check, f.Result, f.Detail} })
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d checks failed", failed, len(e.findings))
	}
	return err
}

func (e *examination) configuration() {
	e.note("configuration", resultOK, "%s, %d chains", e.cfg.Network, len(e.cfg.Chains))
	if len(e.cfg.Chains) == 0 {
		e.note("chains", resultWarning, "no chain is configured: no currency can be used")
	}
	for _, currency := range e.cfg.Registry.All() {
		_, on := e.cfg.Chains[currency.Chain]
		if reason := e.cfg.Off[currency.Code]; reason != "" && on {
			e.note("currency "+string(currency.Code), resultWarning, "off: %s", reason)
		}
	}
}

// database opens the database by itself, so that its troubles are told apart from the seed's.
func (e *examination) database(ctx context.Context) bool {
	db, err := store.Open(ctx, store.Config{URL: e.cfg.Database.Reveal()})
	if err != nil {
		e.note("database", resultFailed, "%v", err)
		return false
	}
	defer db.Close()
	err = db.View(ctx, func(tx *store.Tx) error { return e.waiting(ctx, tx) })
	if err != nil {
		e.note("database", resultFailed, "%v", err)
		return false
	}
	return true
}

// waiting notes what waits for the operator.
func (e *examination) waiting(ctx context.Context, tx *store.Tx) error {
	accounts, err := tx.Accounts(ctx)
	if err != nil {
		return err
	}
	e.note("database", resultOK, "up to date, %d accounts", len(accounts))
	for _, a := range accounts {
		if a.Frozen != "" {
			e.note("account "+a.ID.String(), resultWarning, "frozen: %s", a.Frozen)
		}
	}
	alarms, err := tx.Alarms(ctx, 100)
	if err != nil {
		return err
	}
	for _, a := range alarms {
		e.note("alarm "+a.Kind, resultWarning, "since %s: %s", moment(a.At), a.Message)
	}
	return nil
}

func (e *examination) seed(ctx context.Context) bool {
	who := "seed"
	if e.cfg.Signer.Apart() {
		who = "signer"
	}
	keys, err := service.KeysOf(ctx, e.cfg, service.Options{Getenv: e.call.getenv})
	if err != nil {
		e.note(who, resultFailed, "%v", err)
		return false
	}
	e.note(who, resultOK, "fingerprint %s", keys.Fingerprint())
	return true
}

// chains opens everything as the service would, which ties the database to the seed, and asks every node.
func (e *examination) chains(ctx context.Context) {
	s, err := e.call.service(ctx)
	if err != nil {
		e.note("service", resultFailed, "%v", err)
		return
	}
	defer s.Close()
	e.note("service", resultOK, "the database belongs to this seed and network")
	e.pools(ctx, s)
	all, err := s.ChainStatus(ctx)
	if err != nil {
		e.note("chains", resultFailed, "%v", err)
		return
	}
	for _, status := range all {
		e.chain(status)
	}
}

// fewReady is how few addresses in a pool are worth a warning; the service fills it up from a larger number on.
const fewReady = wallet.PoolSize / 10

func (e *examination) pools(ctx context.Context, s *service.Service) {
	pools, err := listPools(ctx, s.DB, s.Pool)
	if err != nil {
		e.note("address pool", resultFailed, "%v", err)
	}
	for _, p := range pools {
		result := resultOK
		if p.Ready < fewReady {
			result = resultWarning
		}
		e.note("address pool "+string(p.Family), result, "%d addresses are ready; `bursar serve` or `bursar seed pool` makes more", p.Ready)
	}
}

func (e *examination) chain(status service.ChainStatus) {
	check := "chain " + string(status.Chain)
	switch {
	case status.Halted != "":
		e.note(check, resultFailed, "halted: %s; see `bursar chain resume --help`", status.Halted)
	case status.NodeError != "":
		e.note(check, resultFailed, "no node answers: %s", status.NodeError)
	case status.Height < 0:
		e.note(check, resultOK, "node at %d, final %d, not followed yet", status.Node.Latest.Height, status.Node.Final.Height)
	default:
		e.note(check, resultOK, "node at %d, final %d, recorded up to %d", status.Node.Latest.Height, status.Node.Final.Height, status.Height)
	}
}
