package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

// measureDatabase measures everything on one kind of database.
func measureDatabase(ctx context.Context, s settings, p programs, work, kind string, results *report) error {
	dir := filepath.Join(work, kind)
	bursarURL, referenceURL := "sqlite:"+filepath.Join(dir, "bursar.db"), "file:"+filepath.Join(dir, "reference.db")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if kind == "postgres" {
		progress("starting PostgreSQL, with fsync and synchronous_commit")
		server, err := startPostgres(ctx, filepath.Join(work, "pg"))
		if err != nil {
			return err
		}
		defer server.stop()
		bursarURL, referenceURL = server.url("bursar"), server.url("reference")
	}
	reference, err := start(ctx, "the reference", p.self, nil, referenceCommand, "--database", referenceURL)
	if err != nil {
		return err
	}
	defer reference.stop()
	address, err := reference.line()
	if err != nil {
		return err
	}
	progress("%s: starting the service", kind)
	d, err := deploy(ctx, p, filepath.Join(dir, "data"), bursarURL)
	if err != nil {
		return err
	}
	defer d.stop()
	b := &bench{settings: s, kind: kind, deployment: d, reference: address, results: results}
	return errors.Join(b.requests(ctx), b.deposits(ctx))
}

// bench measures one deployment.
type bench struct {
	settings
	*deployment
	kind      string
	reference string // host:port
	results   *report
	turn      atomic.Int64
}

func (b *bench) wanted(name string) bool { return b.only.MatchString(name) }

// compare drives the reference and the service in turns, with each number of connections, and keeps the better round of
// each: what is measured is what they can do, not what else the machine did at that moment.
func (b *bench) compare(ctx context.Context, name string, target float64, reference, service call) error {
	if !b.wanted(name) {
		return nil
	}
	for _, n := range b.conns {
		var best [2]load
		for round := range b.rounds {
			for i, side := range []struct {
				address string
				next    call
			}{{b.reference, reference}, {b.api, service}} {
				if side.next == nil {
					continue
				}
				got, err := drive(ctx, side.address, n, b.seconds, side.next, &b.turn)
				if err != nil {
					return fmt.Errorf("%s, %d connections: %w", name, n, err)
				}
				if round == 0 || got.PerSecond > best[i].PerSecond {
					best[i] = got
				}
			}
		}
		row := row{Database: b.kind, Name: name, Connections: n, Service: best[1], Target: target}
		if reference != nil {
			row.Reference, row.Ratio = &best[0], best[1].PerSecond/best[0].PerSecond
		}
		b.results.Rows = append(b.results.Rows, row)
		progress("%s", row)
	}
	return nil
}
