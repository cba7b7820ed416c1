package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
)

// The parts of a report.
const (
	partRequests  = "requests"
	partDeposits  = "deposits"
	partSettling  = "settling"
	partWebhooks  = "webhooks"
	partBlocks    = "blocks"
	partLatency   = "latency"
	partPayers    = "payers"
	partScale     = "scale"
	partReplicas  = "replicas"
	partFootprint = "footprint"
	partPeers     = "peers"
	partAdapters  = "adapters"
)

// bench is one run.
type bench struct {
	settings
	programs
	work    string // directory, removed at the end
	results *report
	run     conditions
	turn    atomic.Int64 // numbers the requests of all loads
}

// part returns what the run has measured of a subject so far.
func (b *bench) part(name string) *part { return b.results.part(name, b.run) }

// suites are all measurements that the flags ask for.
func (b *bench) suites() []suite {
	if b.beside != "" {
		return b.besideSuites()
	}
	var list []suite
	for _, kind := range b.databases {
		s := &site{bench: b, kind: kind}
		// The requests are last: the withdrawals that they record are still being paid for minutes.
		steps := b.steps(s.latencySteps, s.depositSteps, s.webhookSteps, s.requestSteps)
		list = append(list, suite{kind, 10 * time.Second, s.open, steps})
	}
	list = append(list, b.settleSuites()...)
	list = append(list, b.blockSuites()...)
	list = append(list, b.scaleSuites()...)
	list = append(list, b.replicaSuites()...)
	list = append(list, b.adapterSuites()...)
	list = append(list, b.peerSuites()...)
	return append(list, b.footprintSuite())
}

func (*bench) steps(parts ...func() []step) (all []step) {
	for _, steps := range parts {
		all = append(all, steps()...)
	}
	return all
}

// site is one deployment on one database.
type site struct {
	*bench
	*deployment
	kind      string // of database: postgres or sqlite
	url       string // of the database, as in the configuration
	db        *sql.DB
	cluster   cluster  // the database's server; empty: SQLite
	program   *process // the reference program
	reference string   // its host:port
	made      *fixture // what requests need, once it is made
	paid      *crowd   // what blocks pay, once it is made
	matured   bool     // the faucet can pay
	warmed    *process // the service that was driven before it is measured
	receiver  *receiver
	closing   []func() // what close calls, the last first
}

// open starts everything that a suite needs: the reference beside the service, on one database server.
func (s *site) open(ctx context.Context) (func(), error) {
	err := s.prepare(ctx, s.kind, "bitcoin")
	if err == nil {
		err = s.startReference(ctx)
	}
	if err == nil {
		err = s.serve(ctx)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s.close, nil
}

// prepare makes a database and starts chains. name distinguishes the suite's files from those of others.
func (s *site) prepare(ctx context.Context, name string, chains ...string) (err error) {
	dir := filepath.Join(s.work, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s.url = "sqlite:" + filepath.Join(dir, "bursar.db")
	if s.kind == "postgres" {
		var settings []string
		if s.profiles != "" {
			settings = []string{"-c", "shared_preload_libraries=pg_stat_statements"}
		}
		server, err := startPostgres(ctx, filepath.Join(s.work, name+"-pg"), settings...)
		if err != nil {
			return err
		}
		s.cluster = server
		s.closing = append(s.closing, server.stop)
		if err := server.create(ctx, "bursar", "reference", "rows"); err != nil {
			return err
		}
		s.url = server.url("bursar")
	}
	if s.deployment, err = prepare(ctx, s.programs, filepath.Join(dir, "data"), s.url, chains); err != nil {
		return err
	}
	s.closing = append(s.closing, s.stop)
	if s.receiver, err = newReceiver(ctx); err != nil {
		return err
	}
	s.closing = append(s.closing, s.receiver.close)
	if s.db, err = openSQL(s.kind, s.url); err != nil {
		return err
	}
	s.closing = append(s.closing, func() { _ = s.db.Close() })
	return nil
}

// openSQL opens the database of a deployment beside the service.
func openSQL(kind, url string) (*sql.DB, error) {
	if kind == "postgres" {
		return sql.Open("pgx", url)
	}
	return sql.Open("sqlite", "file:"+url[len("sqlite:"):]+"?_pragma=busy_timeout(60000)&_pragma=synchronous(OFF)")
}

func (s *site) startReference(ctx context.Context) error {
	url := "file:" + filepath.Join(filepath.Dir(s.dir), "reference.db")
	if s.kind == "postgres" {
		url = replaceDatabase(s.url, "reference")
	}
	args := []string{referenceCommand, "--database", url}
	if s.kind == "postgres" {
		same := replaceDatabase(s.url, "rows")
		if err := s.commandIn(ctx, []string{"BURSAR_DATABASE=" + same}, "migrate"); err != nil {
			return err
		}
		args = append(args, "--rows", same)
	}
	program, err := start(ctx, "the reference", s.self, nil, args...)
	if err != nil {
		return err
	}
	s.program = program
	s.closing = append(s.closing, program.stop)
	s.reference, err = program.line()
	return err
}

// close ends what the site has started, the newest first.
func (s *site) close() {
	for len(s.closing) > 0 {
		last := len(s.closing) - 1
		s.closing[last]()
		s.closing = s.closing[:last]
	}
}

// compare drives the reference and the service in turns and keeps the better round of each: what is measured is what
// they can do, not what else the machine did at that moment.
func (s *site) compare(
	ctx context.Context, name string, n int, target float64, reference, service call,
) error {
	if err := s.warm(ctx); err != nil {
		return err
	}
	var best [2]load
	for round := range s.rounds {
		for i, side := range []struct {
			address string
			next    call
		}{{s.reference, reference}, {s.api, service}} {
			if side.next == nil {
				continue
			}
			before, err := s.used()
			if err != nil {
				return err
			}
			got, err := s.side(ctx, name, driving{
				addresses: []string{side.address},
				conns:     n,
				end:       after(s.seconds),
				next:      side.next,
				turn:      &s.turn,
				within:    s.seconds + longestDrive,
			})
			if err != nil {
				return fmt.Errorf("%s, %d connections: %w", name, n, err)
			}
			used, err := s.used()
			if err != nil {
				return err
			}
			got.took(used.since(before))
			if round == 0 || got.PerSecond > best[i].PerSecond {
				best[i] = got
			}
		}
	}
	r := row{Database: s.kind, Name: name, Connections: n, Service: best[1], Target: target}
	if reference != nil {
		r.Reference, r.Ratio = &best[0], best[1].PerSecond/best[0].PerSecond
	}
	s.part(partRequests).row(r)
	return nil
}

// takes is an estimate of compare.
func (b *bench) takes(sides int) time.Duration {
	return time.Duration(b.rounds*sides) * (b.seconds + 100*time.Millisecond)
}
