package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// side makes a load on one side of a comparison. While it is on the service's, the service's processor profile is taken
// into a file of --profiles, named after the measurement, which `go tool pprof` reads.
func (s *site) side(ctx context.Context, name string, d driving) (load, error) {
	if s.profiles == "" || d.addresses[0] != s.api {
		return drive(ctx, d)
	}
	var got load
	err := s.profiled(ctx, name, func() (err error) {
		got, err = drive(ctx, d)
		return err
	})
	return got, err
}

// profiled takes the service's profile while do runs, if --profiles is set.
func (s *site) profiled(ctx context.Context, name string, do func() error) error {
	if s.profiles == "" {
		return do()
	}
	file := filepath.Join(s.profiles, regexp.MustCompile(`[^a-zA-Z0-9]+`).ReplaceAllString(s.kind+" "+name, "-")+".pprof")
	if err := s.forgetStatements(ctx); err != nil {
		return err
	}
	taken := make(chan error, 1)
	go func() { taken <- s.profile(ctx, file, s.seconds) }()
	err := do()
	if failed := <-taken; err == nil {
		err = failed
	}
	if err == nil {
		err = s.writeStatements(ctx, strings.TrimSuffix(file, ".pprof")+".sql.txt")
	}
	return err
}

// forgetStatements has the server count the time of statements from now on.
func (s *site) forgetStatements(ctx context.Context) error {
	if s.kind != "postgres" {
		return nil
	}
	_, err := s.db.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`)
	if err == nil {
		_, err = s.db.ExecContext(ctx, `SELECT pg_stat_statements_reset()`)
	}
	if err != nil {
		return fmt.Errorf("count the time of statements: %w", err)
	}
	return nil
}

// writeStatements writes which statements the server spent its time on.
func (s *site) writeStatements(ctx context.Context, file string) error {
	if s.kind != "postgres" {
		return nil
	}
	var text string
	err := s.db.QueryRowContext(ctx, `SELECT string_agg(line, E'\n') FROM (SELECT round(total_exec_time::numeric, 1) ||
		' ms, ' || calls || ' calls, ' || rows || ' rows, ' || shared_blks_hit + shared_blks_read || ' pages, ' ||
		round(wal_bytes / 1024) || ' KiB of WAL with ' || wal_fpi || ' whole pages: ' ||
		left(regexp_replace(query, '\s+', ' ', 'g'), 300) AS line FROM pg_stat_statements
		ORDER BY total_exec_time DESC LIMIT 20) s`).Scan(&text)
	if err != nil {
		return fmt.Errorf("read the time of statements: %w", err)
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// profile writes the service's processor profile of the next seconds into a file.
func (s *site) profile(ctx context.Context, file string, d time.Duration) error {
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", s.admin, max(1, int(d.Seconds())))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("take a profile: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && !success(answer.StatusCode) {
		err = fmt.Errorf("%s: %.300s", answer.Status, text)
	}
	if err != nil {
		return fmt.Errorf("take a profile: %w", err)
	}
	if err := os.MkdirAll(s.profiles, 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
