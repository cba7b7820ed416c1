package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// Another version of the service beside this one: --beside FOLDER names a folder with its programs, bursar and sandbox.
// It gets a database server and chains of its own and is driven in turns with this version, so that whatever else the
// machine does falls on both. What is compared is processor time, commits and WAL for each request.

// besideSuites measure two versions in turns.
func (b *bench) besideSuites() []suite {
	another := &bench{settings: b.settings, work: b.work, results: b.results, run: b.run}
	another.programs = programs{
		bursar:  filepath.Join(b.beside, "bursar"),
		sandbox: filepath.Join(b.beside, "sandbox"),
		self:    b.self,
	}
	var list []suite
	for _, kind := range b.databases {
		v := versions{{bench: b, kind: kind}, {bench: another, kind: kind}}
		var steps []step
		for _, one := range subjects(kind) {
			if one.service == nil {
				continue
			}
			for _, n := range b.conns {
				steps = append(steps, step{
					name:  fmt.Sprintf("%s, %d connections", one.name, n),
					takes: b.takes(2),
					run:   func(ctx context.Context) error { return v.compare(ctx, one, n) },
				})
			}
		}
		list = append(list, suite{kind + ", two versions", 30 * time.Second, v.open, steps})
	}
	return list
}

// versions are this version and another one.
type versions [2]*site

func (v versions) open(ctx context.Context) (func(), error) {
	closing := func() {
		for _, s := range v {
			s.close()
		}
	}
	for i, s := range v {
		err := s.prepare(ctx, fmt.Sprintf("%s-%d", s.kind, i), "bitcoin")
		if err == nil {
			err = s.serve(ctx)
		}
		if err != nil {
			closing()
			return nil, err
		}
	}
	return closing, nil
}

// compare drives both with one kind of request, in turns, twice at least, and says what all rounds together took of
// each.
func (v versions) compare(ctx context.Context, one subject, n int) error {
	var sums [2]spent
	for turn := range 2 * max(2, v[0].rounds) {
		i := (turn + turn/2) % 2 // each is first as often as second
		got, err := v[i].spend(ctx, one, n)
		if err != nil {
			return fmt.Errorf("%s, %d connections: %w", one.name, n, err)
		}
		sums[i] = sums[i].and(got)
	}
	for i, name := range []string{"this version", "the other"} {
		progress("%s, %d connections, %s: %s", one.name, n, name, sums[i])
	}
	return nil
}

// spent is what requests took of a version.
type spent struct {
	requests          int64
	busy              time.Duration // while they were made
	service, database time.Duration // processor time
	wal, commits      int64         // bytes and number, those of reads too; PostgreSQL only
	p99               time.Duration // the worst of all rounds
}

func (a spent) and(b spent) spent {
	return spent{a.requests + b.requests, a.busy + b.busy, a.service + b.service, a.database + b.database, a.wal + b.wal,
		a.commits + b.commits, max(a.p99, b.p99)}
}

func (a spent) String() string {
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(a.requests) }
	return fmt.Sprintf("%.0f/s, p99 %s; for each %.0f µs: %.1f of the service, %.1f of the database's server; "+
		"%.0f bytes of WAL, %.2f commits", float64(a.requests)/a.busy.Seconds(), short(a.p99),
		each(a.service+a.database), each(a.service), each(a.database), float64(a.wal)/float64(a.requests),
		float64(a.commits)/float64(a.requests))
}

// spend makes one load and returns what it took.
func (s *site) spend(ctx context.Context, one subject, n int) (spent, error) {
	f, err := s.fixtures(ctx)
	if err != nil {
		return spent{}, err
	}
	before, err := s.spentSoFar(ctx)
	if err != nil {
		return spent{}, err
	}
	began := time.Now()
	got, err := s.side(ctx, one.name, driving{
		addresses: []string{s.api},
		conns:     n,
		end:       after(s.seconds),
		next:      one.service(s, f),
		turn:      &s.turn,
		within:    s.seconds + longestDrive,
	})
	if err != nil {
		return spent{}, err
	}
	took := time.Since(began)
	now, err := s.spentSoFar(ctx)
	return spent{got.Requests, took, now.service - before.service, now.database - before.database, now.wal - before.wal,
		now.commits - before.commits, got.P99}, err
}

// spentSoFar is what a site has taken since it began.
func (s *site) spentSoFar(ctx context.Context) (a spent, err error) {
	if a.service, err = s.service.processor(); err != nil || s.cluster.dir == "" {
		return a, err
	}
	if a.database, err = s.cluster.processor(); err != nil {
		return a, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT wal_bytes::bigint,
		(SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()) FROM pg_stat_wal`).
		Scan(&a.wal, &a.commits)
	return a, err
}
