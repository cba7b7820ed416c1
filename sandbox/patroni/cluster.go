// Package patroni runs PostgreSQL for tests of its failures: one server alone, and a small cluster under Patroni: an
// etcd, and members that Patroni turns into a primary and standbys.
//
// It owns the processes, their ports and their directory. It knows nothing about the content of the database. Its
// invariants: everything listens on loopback; everything ends with the process that started it, however that ends;
// only processes that it started are ended.
package patroni

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
)

// Config describes the cluster to start.
type Config struct {
	// Synchronous makes a commit wait until a standby has written it (Patroni's synchronous_mode).
	Synchronous bool
	// Members is the number of servers; 0: 2.
	Members int
	// TTL is Patroni's ttl in seconds, after which a dead primary is replaced; 0: 6, because every test waits for it.
	TTL int
}

// Cluster is a running cluster. Its methods are for one goroutine.
type Cluster struct {
	cfg     Config
	dir     string
	etcd    *process
	store   string // etcd's address
	members []*member
	client  http.Client
}

// Start runs a cluster with an empty database named bursar and waits until it has a primary that its standbys follow.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	if cfg.Members == 0 {
		cfg.Members = 2
	}
	if cfg.TTL == 0 {
		cfg.TTL = 6
	}
	dir, err := workFolder()
	if err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, dir: dir, client: http.Client{Timeout: 2 * time.Second}}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if err := c.startEtcd(ctx); err != nil {
		return err
	}
	for i := range c.cfg.Members {
		m, err := c.newMember(i)
		if err != nil {
			return err
		}
		c.members = append(c.members, m)
		if err := m.run(); err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		if _, err := c.WaitPrimary(ctx, -1); err != nil { // the first must become the primary
			return err
		}
	}
	if err := c.WaitStandbys(ctx); err != nil {
		return err
	}
	return c.makeDatabase(ctx)
}

func (c *Cluster) makeDatabase(ctx context.Context) error {
	db, err := sql.Open("pgx", c.url("postgres", "postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range []string{"CREATE ROLE bursar LOGIN", "CREATE DATABASE bursar OWNER bursar"} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("create the database: %w", err)
		}
	}
	return nil
}

// Close stops everything and removes it.
func (c *Cluster) Close() error {
	var errs []error
	for i := range c.members {
		errs = append(errs, c.Kill(i))
		c.members[i].proxy.close()
	}
	if c.etcd != nil {
		c.etcd.kill()
	}
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

// URL names all members; a client uses the one that accepts writes.
func (c *Cluster) URL() string { return c.url("bursar", "bursar") }

func (c *Cluster) url(user, database string) string {
	var hosts []string
	for _, m := range c.members {
		hosts = append(hosts, m.listen)
	}
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable&target_session_attrs=read-write&connect_timeout=3", user,
		strings.Join(hosts, ","), database)
}

// role is what Patroni reports about a member.
type role struct {
	Name, Role, State string
	Lag               any
}

// roles asks the members that answer for the state of the cluster.
func (c *Cluster) roles(ctx context.Context) []role {
	for _, m := range c.members {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.rest+"/cluster", nil)
		if err != nil {
			continue
		}
		answer, err := c.client.Do(request)
		if err != nil {
			continue // it may have been killed
		}
		var whole struct{ Members []role }
		err = json.NewDecoder(answer.Body).Decode(&whole)
		answer.Body.Close()
		if err == nil && len(whole.Members) > 0 {
			return whole.Members
		}
	}
	return nil
}

// WaitPrimary waits until a member other than one accepts writes, and returns its number; -1 excludes none.
func (c *Cluster) WaitPrimary(ctx context.Context, other int) (primary int, err error) {
	err = c.until(ctx, "a primary", func() bool {
		for i, m := range c.members {
			if i != other && m.takesWrites(ctx) {
				primary = i
				return true
			}
		}
		return false
	})
	return primary, err
}

// WaitStandbys waits until every member runs, and in synchronous mode until commits wait for a standby.
func (c *Cluster) WaitStandbys(ctx context.Context) error {
	return c.until(ctx, "standbys", func() bool {
		following, synchronous := 0, false
		for _, r := range c.roles(ctx) {
			if r.Role != "leader" && (r.State == "running" || r.State == "streaming") {
				following++
				synchronous = synchronous || r.Role == "sync_standby"
			}
		}
		return following == c.cfg.Members-1 && (synchronous || !c.cfg.Synchronous || c.cfg.Members == 1)
	})
}

// until waits for a state that the cluster reaches by itself. If ctx has no deadline it gives up after two minutes.
func (c *Cluster) until(ctx context.Context, what string, check func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for ticker := time.NewTicker(100 * time.Millisecond); ; {
		if check() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no %s in time: %w\n%s", what, ctx.Err(), c.logs())
		case <-ticker.C:
		}
	}
}

// logs are the ends of all logs.
func (c *Cluster) logs() string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.log")) // the pattern is valid
	for _, file := range files {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(&b, "== %s\n%s\n", filepath.Base(file), text[max(0, len(text)-3000):])
	}
	return b.String()
}
