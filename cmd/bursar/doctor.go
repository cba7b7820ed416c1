package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

type doctorCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (doctorCommand) Help() string {
	return "Checks the configuration, the certificates, the database, the clock, the disk, the seed file and its " +
		"passphrase, the marks and the signer's state beside it, the signer's limits, every node of every chain (version, " +
		"chain, tip, finality, tracing, history, clock, and reading its newest final block), the source of rates, " +
		"who is notified, and open halts and alarms, and says what to do. " +
		"Exits with 1 if a check failed; a warning is not a failure. It changes nothing and may run beside the " +
		"service.\n\nExample:\n\n    bursar doctor"
}

// Results of a check.
const (
	resultOK      = "ok"
	resultWarning = "warning"
	resultFailed  = "failed"
)

// healthWithin bounds the whole health check: an endpoint that does not answer takes half a minute for each of some
// questions.
const healthWithin = 3 * time.Minute

type finding struct {
	Check  string `json:"check"`
	Result string `json:"result"`
	Detail string `json:"detail"`
	Advice string `json:"advice"` // what to do; empty if all is well
}

// healthCheck collects findings.
type healthCheck struct {
	call     *call
	cfg      config.Config
	findings []finding
}

// note records what a check found.
func (e *healthCheck) note(check, result, format string, args ...any) {
	e.advise(check, result, "", format, args...)
}

// advise records a problem, and what to do about it.
func (e *healthCheck) advise(check, result, advice, format string, args ...any) {
	e.findings = append(e.findings, finding{check, result, fmt.Sprintf(format, args...), advice})
}

// Run checks one thing after the other; checks that depend on a failed one are skipped.
func (cmd *doctorCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	e := &healthCheck{call: c, cfg: cfg}
	e.configuration()
	e.certificates()
	e.prices(ctx)
	e.rates(ctx)
	e.notices(ctx)
	e.signerState(ctx)
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
	err = list(c, cmd.JSON, e.findings, "CHECK RESULT DETAIL", func(f finding) []any {
		return []any{f.Check, f.Result, f.Detail}
	})
	if err == nil && !cmd.JSON {
		err = e.advice()
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d checks failed", failed, len(e.findings))
	}
	return err
}

// advice prints what to do about each problem below the table, which it would make too wide.
func (e *healthCheck) advice() error {
	heading := "\nWhat to do:\n"
	for _, f := range e.findings {
		if f.Advice == "" {
			continue
		}
		if err := e.call.Say("%s  %s: %s", heading, cell(f.Check), cell(f.Advice)); err != nil {
			return err
		}
		heading = ""
	}
	return nil
}

func (e *healthCheck) configuration() {
	e.note("configuration", resultOK, "%s, %d chains", e.cfg.Network, len(e.cfg.Chains))
	if len(e.cfg.Chains) == 0 {
		e.advise("chains", resultWarning, "name a chain and its node under `chains`",
			"no chain is configured: no currency can be used")
	}
	for _, currency := range e.cfg.Registry.All() {
		_, on := e.cfg.Chains[currency.Chain]
		if reason := e.cfg.Off[currency.Code]; reason != "" && on {
			e.advise("currency "+string(currency.Code), resultWarning,
				"set its `contract` under `currencies`, or leave it disabled",
				"off: %s", reason)
		}
	}
	e.limits()
	e.feesWithinLimits()
}

// limits records the currencies that the signer pays out nothing of. A remote signer has a file of its own, which
// cannot be seen from here.
func (e *healthCheck) limits() {
	result := resultFailed
	if e.cfg.Signer.Remote() {
		result = resultWarning
	}
	for _, currency := range e.cfg.Unlimited() {
		e.advise("limit "+string(currency.Code), result,
			"set its `hourly_limit`, `daily_limit` or `weekly_limit` under `currencies` of the signer's configuration: "+
				"`bursar signer policy` prints some", "none in this file: on mainnet the signer pays out nothing without one")
	}
}

// rates asks the source of rates once, if one is configured. Without rates only figures in USDT are left out: a
// warning.
func (e *healthCheck) rates(ctx context.Context) {
	switch e.cfg.Rates.Source {
	case config.RatesStatic:
		e.note("rates", resultOK, "fixed for %d currencies", len(e.cfg.Rates.Static))
	case config.RatesHTTP:
		missing, err := service.NewRateFeed(e.cfg, time.Now, slog.New(slog.DiscardHandler)).Ask(ctx)
		switch {
		case err != nil:
			e.advise("rates", resultWarning, "check the URL of `rates` and its answer",
				"%v: figures in USDT are left out until rates are available", err)
		case len(missing) > 0:
			e.advise("rates", resultWarning, "correct their pointers under `rates`, or remove the currencies there",
				"the source answers without %v", missing)
		default:
			e.note("rates", resultOK, "the source answers with all of them")
		}
	}
}

// database opens the database on its own, so that its errors are distinct from the seed's.
func (e *healthCheck) database(ctx context.Context) bool {
	db, err := store.Open(ctx, store.Config{URL: e.cfg.Database.Reveal()})
	if err != nil {
		e.advise("database", resultFailed, databaseAdvice, "%v", err)
		return false
	}
	defer db.Close()
	if mode := e.cfg.UnverifiedDatabase(); mode != "" && e.cfg.Network == config.Mainnet {
		e.advise("database's TLS", resultWarning,
			"use `sslmode=verify-full`, with `sslrootcert` if its authority is your own",
			"sslmode=%s: anyone who is between this machine and the database can read and change everything", mode)
	}
	facts, err := db.Facts(ctx)
	if err == nil {
		err = e.databaseRole(ctx, db)
	}
	if err == nil {
		e.machine(facts, db.Now())
		e.policyOfPeople(ctx, db)
		e.clientsKeys(ctx, db)
		e.screening(ctx, db)
		e.acts(ctx, db)
		e.seenOfSigner(ctx, db)
		err = db.View(ctx, func(tx *store.Tx) error { return e.waiting(ctx, tx, facts) })
	}
	if err != nil {
		e.advise("database", resultFailed, databaseAdvice, "%v", err)
		return false
	}
	return true
}

const databaseAdvice = "check that the database runs, that `database` names it, and that its user may read and write it"

// waiting records what needs the operator: halts and alarms.
func (e *healthCheck) waiting(ctx context.Context, tx *store.Tx, facts store.Facts) error {
	accounts, err := tx.Accounts().All(ctx)
	if err != nil {
		return err
	}
	e.note("database", resultOK, "%s, up to date, %s, accounts: %d", facts.Software, size(uint64(facts.Size)),
		len(accounts))
	halts, err := tx.Halts().List(ctx)
	if err != nil {
		return err
	}
	for _, h := range halts {
		if account, is := h.Scope.Account(); is {
			e.advise("account "+account.String(), resultWarning, "investigate, then "+h.Remedy(), "frozen since %s (%s): %s",
				moment(h.At), h.Kind, h.Reason)
			continue
		}
		e.advise("halt "+string(h.Scope), resultFailed, "investigate, then "+h.Remedy(), "since %s: %s", moment(h.At), h)
	}
	alarms, err := tx.Alarms().List(ctx, 100)
	if err != nil {
		return err
	}
	for _, a := range alarms {
		e.advise("alarm "+a.Kind, resultWarning, "see "+a.Kind+" in `bursar docs runbooks`",
			"since %s: %s", moment(a.At), a.Message)
	}
	return nil
}

// seedAdvice says what to do if the keys are not available.
var seedAdvice = map[string]string{
	"seed": "set the seed file under `seed_file`, and its passphrase in BURSAR_PASSPHRASE or " +
		"BURSAR_PASSPHRASE_FILE",
	watchOnlyCheck: "copy the output of `bursar seed export-watch-only` to signer.watch_only again",
	"signer":       "run `bursar signer` at signer.address, and let this user connect to it",
}

func (e *healthCheck) seed(ctx context.Context) bool {
	who := "seed"
	if e.cfg.Signer.Remote() {
		who = "signer"
	}
	if e.cfg.Signer.WatchOnly != "" {
		who = watchOnlyCheck
	}
	keys, err := service.KeysOf(ctx, e.cfg, service.Options{Getenv: e.call.Getenv})
	if err != nil {
		e.advise(who, resultFailed, seedAdvice[who], "%v", err)
		return false
	}
	if !e.watchOnly(ctx, keys) {
		return true
	}
	if signs, remote := keys.(interface{ Frozen() (string, error) }); remote {
		if why, err := signs.Frozen(); why != "" || err != nil {
			e.advise(who, resultFailed, "investigate, then `bursar signer thaw` on the signer's machine", "%s", why)
			return true
		}
	}
	if has, remote := keys.(interface {
		Policy(ctx context.Context) (signer.PolicyText, error)
	}); remote {
		if p, err := has.Policy(ctx); p.Lost != "" || err != nil {
			e.advise(who, resultFailed, "apply the policy again: see A lost policy in docs/operations/approvals.md", "%s",
				cmp.Or(p.Lost, fmt.Sprint(err)))
			return true
		} else if p.Compromise.Trouble != "" {
			e.advise("compromise order", resultWarning, "prepare, sign and drill one: `bursar signer compromise`, "+
				"docs/operations/compromise.md", "%s", p.Compromise.Trouble)
		}
	}
	e.note(who, resultOK, "fingerprint %s", keys.Fingerprint())
	e.seedFile()
	return true
}
