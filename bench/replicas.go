package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// replicaCounts are the numbers of processes that are compared; the first is the reference.
var replicaCounts = []int{1, 2, 4}

// replicaConns is how many connections drive all replicas together.
const replicaConns = 64

// replicated is a site with several processes of the service.
type replicated struct {
	*site
	running []*deployment
	first   map[string]load // with one process
}

// replicaSuites measure several processes of the service on one PostgreSQL.
func (b *bench) replicaSuites() []suite {
	if !b.replicas {
		return nil
	}
	r := &replicated{site: &site{bench: b, kind: "postgres"}, first: map[string]load{}}
	var steps []step
	for _, n := range replicaCounts {
		steps = append(steps, step{
			name:  fmt.Sprintf("replicas: %d", n),
			takes: time.Duration(len(replicaSubjects())) * b.takes(1),
			run:   func(ctx context.Context) error { return r.measure(ctx, n) },
		})
	}
	return []suite{{"replicas", 20 * time.Second, r.open, steps}}
}

// replicaSubjects are the calls that are measured.
func replicaSubjects() (list []subject) {
	for _, one := range subjects("postgres") {
		if one.target > 0 && one.name != "GET wallet" {
			list = append(list, one)
		}
	}
	return list
}

// open prepares the site and starts the first process.
func (r *replicated) open(ctx context.Context) (func(), error) {
	err := r.prepare(ctx, "replicas", "bitcoin")
	if err == nil {
		err = r.serve(ctx)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	r.running = []*deployment{r.deployment}
	return r.close, nil
}

// grow starts processes until there are so many.
func (r *replicated) grow(ctx context.Context, n int) error {
	for len(r.running) < n {
		dir := filepath.Join(r.work, fmt.Sprintf("replica-%d", len(r.running)+1))
		next, err := r.another(ctx, dir)
		if err != nil {
			return err
		}
		if err := next.serve(ctx); err != nil {
			return err
		}
		r.closing = append(r.closing, next.halt)
		r.running = append(r.running, next)
	}
	return nil
}

// measure drives so many processes together, and compares with one.
func (r *replicated) measure(ctx context.Context, n int) error {
	f, err := r.fixtures(ctx)
	if err != nil {
		return err
	}
	if err := r.grow(ctx, n); err != nil {
		return err
	}
	var addresses []string
	for _, d := range r.running[:n] {
		addresses = append(addresses, d.api)
	}
	for _, one := range replicaSubjects() {
		var best load
		for range r.rounds {
			before, err := r.usedByAll()
			if err != nil {
				return err
			}
			got, err := drive(ctx, driving{
				addresses: addresses,
				conns:     replicaConns,
				end:       after(r.seconds),
				next:      one.service(r.site, f),
				turn:      &r.turn,
				within:    r.seconds + longestDrive,
			})
			if err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			used, err := r.usedByAll()
			if err != nil {
				return err
			}
			got.took(used.since(before))
			if got.PerSecond > best.PerSecond {
				best = got
			}
		}
		name := fmt.Sprintf("%s, %d replicas", one.name, n)
		m := row{Database: r.kind, Name: name, Connections: replicaConns, Service: best}
		if first, known := r.first[one.name]; known {
			m.Reference, m.Ratio = &first, best.PerSecond/first.PerSecond
		} else {
			m.Name = one.name + ", 1 replica"
			r.first[one.name] = best
		}
		r.part(partReplicas).row(m)
	}
	return nil
}

// usedByAll returns the processor time that all replicas and the database's server have used so far.
func (r *replicated) usedByAll() (u usage, err error) {
	for _, d := range r.running {
		one, err := d.service.processor()
		if err != nil {
			return u, err
		}
		u.service += one
	}
	u.database, err = r.cluster.processor()
	return u, err
}
