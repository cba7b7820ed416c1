package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/bursar/bursar/test/pg"
)

// cluster is a PostgreSQL server of this run, with the settings of a fresh installation: every commit is synced.
type cluster struct {
	dir  string
	stop func()
}

func (c cluster) url(database string) string {
	return "postgres://bursar@/" + database + "?host=" + c.dir
}

// startPostgres makes a cluster below dir and starts it, listening on a socket only. It ends with this process, however
// that ends. PostgreSQL refuses to run as root, so root runs it as another user.
//
// A checkpoint has every page written whole into the WAL once more, and takes minutes of its own: with one every five
// minutes, as in a fresh installation, some measurements would fall into it and some would not. Here one comes every
// half hour: PostgreSQL's documentation advises to keep them rare (15, 30.5 WAL Configuration).
//
// Further settings, such as shared_preload_libraries=pg_stat_statements, go to the server as they are.
func startPostgres(ctx context.Context, dir string, settings ...string) (cluster, error) {
	bin, err := pg.Programs()
	if err != nil {
		return cluster{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cluster{}, fmt.Errorf("create the directory of PostgreSQL: %w", err)
	}
	attr, err := pg.Unprivileged(dir)
	if err != nil {
		return cluster{}, err
	}
	if attr.Credential != nil { // the user of the server passes through it
		if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
			return cluster{}, fmt.Errorf("open the directory of PostgreSQL: %w", err)
		}
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--username=bursar", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "-D", filepath.Join(dir, "data"))
	initdb.SysProcAttr, initdb.Dir = attr, dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return cluster{}, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	// The shell ends the server when its own input closes: a signal to this program must not kill it before.
	script := `"$1" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=on -c synchronous_commit=on \
		-c max_connections=400 -c shared_buffers=512MB -c max_wal_size=16GB -c checkpoint_timeout=30min \
		$3 >"$2/log" 2>&1 & pid=$!
		cat >/dev/null; kill -INT $pid; wait $pid`
	command := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", script, "sh",
		filepath.Join(bin, "postgres"), dir, strings.Join(settings, " "))
	command.SysProcAttr, command.Dir = attr, dir
	input, err := command.StdinPipe()
	if err != nil {
		return cluster{}, err
	}
	if err := command.Start(); err != nil {
		return cluster{}, fmt.Errorf("start postgres: %w", err)
	}
	c := cluster{dir: dir, stop: func() {
		_ = input.Close()
		_ = command.Wait()
	}}
	if err := c.create(ctx); err != nil {
		c.stop()
		return cluster{}, err
	}
	return c, nil
}

// create waits for the server and creates databases.
func (c cluster) create(ctx context.Context, names ...string) error {
	var conn *pgx.Conn
	err := until(ctx, 30*time.Second, func() (err error) {
		conn, err = pgx.Connect(ctx, c.url("postgres"))
		return err
	})
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
		return fmt.Errorf("postgres did not become ready: %w\n%s", err, bytes.TrimSpace(log))
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, name := range names {
		if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
			return fmt.Errorf("create database %s: %w", name, err)
		}
	}
	return nil
}

// until calls f every 20 ms until it returns nil, or returns its last error after the timeout.
func until(ctx context.Context, timeout time.Duration, f func() error) error {
	return waitEvery(ctx, 20*time.Millisecond, timeout, f)
}

// waitEvery is until with another interval.
func waitEvery(ctx context.Context, interval, timeout time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}
