package service

import (
	"context"
	"encoding/hex"
	"math/big"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/store"
)

// metrics reads the database at every scrape, so that its values are correct after a restart and on every replica.
// Amounts are in whole units of their currency: Prometheus has only floats, and no decision depends on them.
//
// docs/metrics.md lists the metrics; a test compares it with this code.
type metrics struct {
	service *Service
	finals  *finals
}

// gauge is one metric; it is a counter if its value only grows while the process lives.
type gauge struct {
	*prometheus.Desc
	prometheus.ValueType
}

func newGauge(name, help string, labels ...string) gauge {
	return gauge{prometheus.NewDesc("bursar_"+name, help, labels, nil), prometheus.GaugeValue}
}

// newHistogram declares a histogram, which is exported as a whole.
func newHistogram(name, help string) gauge { return newGauge(name, help) }

func newCounter(name, help string, labels ...string) gauge {
	return gauge{prometheus.NewDesc("bursar_"+name+"_total", help, labels, nil), prometheus.CounterValue}
}

func (g gauge) set(out chan<- prometheus.Metric, value float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(g.Desc, g.ValueType, value, labels...)
}

// finals remembers how long each chain's final height has been unchanged, as far as scrapes have seen.
type finals struct {
	mu    sync.Mutex
	since map[bursar.ChainID]finalSince
}

type finalSince struct {
	height uint64
	at     time.Time
}

// age returns how long no newer block has become final.
func (f *finals) age(chain bursar.ChainID, height uint64, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, seen := f.since[chain]
	if !seen || known.height != height {
		known = finalSince{height, now}
		f.since[chain] = known
	}
	return now.Sub(known.at)
}

var (
	chainHeight   = newGauge("chain_height", "Last block recorded.", "chain")
	chainLatest   = newGauge("chain_latest_height", "Newest block that a node reported.", "chain")
	chainFinal    = newGauge("chain_final_height", "Newest block that is final and recorded.", "chain")
	chainAge      = newGauge("chain_head_age_seconds", "Time since a node last reported the chain's head.", "chain")
	chainFinalAge = newGauge("chain_final_age_seconds",
		"Time for which no newer block has become final, as seen since the start.", "chain")
	chainLag     = newGauge("chain_lag_blocks", "Number of blocks of the chain that are not yet recorded.", "chain")
	chainHalted  = newGauge("chain_halted", "1 while payments on the chain are halted.", "chain")
	chainFailing = newGauge("chain_failing_seconds", "How long the chain could not be followed, 0 if it can.", "chain")
	chainIgnored = newCounter("chain_ignored_transfers", "Transfers of assets that are not configured, since the start.",
		"chain")
	suspendedNow = newGauge("currency_suspended", "1 while a currency is neither credited nor paid.", "currency")
	queueWaiting = newGauge("queue_waiting",
		"Number of waiting items: pending_deposits, withdrawals, approvals, spends, deliveries.", "queue", "chain")
	queueAge      = newGauge("queue_oldest_seconds", "Age of the oldest waiting item.", "queue", "chain")
	screeningOpen = newGauge("screening_waiting",
		"Deposits and payouts that wait for the screening service, or for an operator.", "chain", "reason")
	bookBalance = newGauge("ledger_balance",
		"Balance of an account of the operator's side of the books, in whole units.", "account", "currency")
	bookOwed = newGauge("ledger_liabilities", "Liabilities to customers and unresolved deposits, in whole units.",
		"currency")
	alarmsOpen    = newGauge("alarms_open", "Open alarms.", "kind")
	endpointCalls = newCounter("rpc_calls", "Calls made to a node since the start.", "chain", "endpoint")
	endpointFault = newCounter("rpc_faults", "Calls that a node failed since the start.", "chain", "endpoint")
	endpointAt    = newGauge("rpc_height", "Newest block that a node reported.", "chain", "endpoint")
	endpointUp    = newGauge("rpc_healthy", "1 while a node is in use, 0 while it is in cool-down.", "chain", "endpoint")
	rateAge       = newGauge("rate_age_seconds", "Time since a currency's last known rate was requested.",
		"currency")
	signerFrozen  = newGauge("signer_frozen", "1 while the signer is frozen and signs nothing.")
	signerThawsAt = newGauge("signer_thaws_timestamp_seconds",
		"When the signer thaws because of a thaw that people signed, in seconds since 1970; 0 while none waits.")
	wrongGuesses = newCounter("admin_wrong_passwords", "Wrong passwords at the admin address since the start.")
	actsHead     = newGauge("acts_head",
		"Number of the newest row of the log of acts, labelled with its hash; 0 without a hash while there is none.", "hash")
	scrapeFailed = newGauge("scrape_failed", "1 if the database did not answer the scrape.")
)

// Describe sends nothing: the metrics depend on the configuration, so they are checked when they are collected.
func (metrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads the metrics' values.
func (m metrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := m.service.DB.View(ctx, func(tx *store.Tx) error {
		for _, collect := range []func(context.Context, *store.Tx, chan<- prometheus.Metric) error{m.chains, m.queues, m.lag,
			m.books, m.alarms, m.acts, m.pool, m.epochs, m.recoveries, m.screenings, m.notices} {
			if err := collect(ctx, tx, out); err != nil {
				return err
			}
		}
		return nil
	})
	scrapeFailed.set(out, truth(err != nil))
	signerFrozen.set(out, truth(m.service.signerFrozen()))
	signerThawsAt.set(out, m.service.signerThawsAt())
	wrongGuesses.set(out, float64(m.service.guesses.counted()))
	m.endpoints(out)
	m.fallbacks(out)
	m.subscriptions(out)
	m.followers(out)
	m.rates(out)
	m.deliverer(out)
	m.certificates(out)
	m.connections(out)
}

func (m metrics) chains(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	states, err := tx.Chains().States(ctx)
	for _, c := range states {
		id := string(c.Chain)
		chainHeight.set(out, float64(c.Height), id)
		chainLatest.set(out, float64(c.Latest), id)
		chainFinal.set(out, float64(c.Final), id)
		chainFinalAge.set(out, m.finals.age(c.Chain, c.Final, tx.Now()).Seconds(), id)
		chainLag.set(out, max(0, float64(c.Latest)-float64(c.Height)), id)
		chainHalted.set(out, truth(c.Halted != ""), id)
		failing := time.Duration(0)
		if c.Failing != "" {
			failing = tx.Now().Sub(c.FailingSince)
		}
		chainFailing.set(out, failing.Seconds(), id)
		if !c.CheckedAt.IsZero() {
			chainAge.set(out, tx.Now().Sub(c.CheckedAt).Seconds(), id)
		}
	}
	return err
}

func (m metrics) queues(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	emit := func(name, chain string, q store.Queue) {
		queueWaiting.set(out, float64(q.Waiting), name, chain)
		age := 0.0
		if !q.Oldest.IsZero() {
			age = tx.Now().Sub(q.Oldest).Seconds()
		}
		queueAge.set(out, age, name, chain)
	}
	due, err := tx.Queues().DueDeliveries(ctx)
	if err != nil {
		return err
	}
	emit("deliveries", "", due)
	charges, err := tx.Queues().WaitingCharges(ctx)
	if err != nil {
		return err
	}
	emit("charges", "", charges)
	for _, id := range m.service.order {
		for _, queue := range []struct {
			name string
			read func(context.Context, bursar.ChainID) (store.Queue, error)
		}{{"pending_deposits", tx.Queues().PendingDeposits}, {"withdrawals", tx.Queues().OpenWithdrawals},
			{"approvals", tx.Queues().WaitingApprovals}, {"spends", tx.Queues().OpenOutgoing}} {
			q, err := queue.read(ctx, id)
			if err != nil {
				return err
			}
			emit(queue.name, string(id), q)
		}
	}
	return nil
}

func (m metrics) books(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	balances, err := tx.Ledger().OperatorBalances(ctx)
	if err != nil {
		return err
	}
	for k, b := range balances {
		currency, err := m.service.Registry.Get(k.Asset)
		if err != nil {
			continue // a currency that is no longer configured
		}
		amount, negative := b.Net(k.Account.Type())
		value := whole(currency, amount)
		if negative {
			value = -value
		}
		bookBalance.set(out, value, string(k.Account), string(k.Asset))
	}
	return m.solvency(ctx, tx, out)
}

// acts exports the hash that the log of acts ends with: a scraper keeps it where the database's owner cannot change it.
func (m metrics) acts(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	last, err := tx.Acts().Head(ctx)
	if err != nil {
		return err
	}
	hash := ""
	if last.Number > 0 {
		hash = hex.EncodeToString(last.Hash[:])
	}
	actsHead.set(out, float64(last.Number), hash)
	return nil
}

func (m metrics) alarms(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	open, err := tx.Alarms().List(ctx, 10_000)
	kinds := map[string]float64{}
	for _, a := range open {
		kinds[a.Kind]++
	}
	for kind, n := range kinds {
		alarmsOpen.set(out, n, kind)
	}
	return err
}

// followers exports what this process knows without the database.
func (m metrics) followers(out chan<- prometheus.Metric) {
	for _, id := range m.service.order {
		chainIgnored.set(out, float64(m.service.workers[id].follower.Deposits.Ignored()), string(id))
		for _, currency := range m.service.Registry.On(id) {
			suspendedNow.set(out, truth(m.service.Suspended(currency.Code) != ""), string(currency.Code))
		}
	}
}

// statsReporter is an adapter that reports the state of its endpoints.
type statsReporter interface{ Stats() []rpc.EndpointStats }

func (m metrics) endpoints(out chan<- prometheus.Metric) {
	for _, id := range m.service.order {
		adapter, ok := m.service.workers[id].chain.(statsReporter)
		if !ok {
			continue
		}
		for _, e := range adapter.Stats() {
			endpointCalls.set(out, float64(e.Calls), string(id), e.Name)
			endpointFault.set(out, float64(e.Faults), string(id), e.Name)
			endpointUp.set(out, truth(e.PausedTill.IsZero()), string(id), e.Name)
			endpointAt.set(out, float64(e.Height), string(id), e.Name)
		}
	}
}

// aging is a source of rates that reports their age.
type aging interface {
	Ages() map[bursar.CurrencyCode]time.Duration
}

func (m metrics) rates(out chan<- prometheus.Metric) {
	source, ok := m.service.parts.Rates.(aging)
	if !ok {
		return
	}
	for code, age := range source.Ages() {
		rateAge.set(out, age.Seconds(), string(code))
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// whole converts smallest units into whole units, for graphs only.
func whole(c bursar.Currency, a bursar.Amount) float64 {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Decimals)), nil)
	value, _ := new(big.Rat).SetFrac(a.Big(), scale).Float64()
	return value
}
