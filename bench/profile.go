package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// side makes a load on one side of a comparison. While it is on the service's, the service's processor profile is taken
// into a file of --profiles, named after the measurement, which `go tool pprof` reads.
func (s *site) side(ctx context.Context, name string, d driving) (load, error) {
	if s.profiles == "" || d.addresses[0] != s.api {
		return drive(ctx, d)
	}
	file := filepath.Join(s.profiles, regexp.MustCompile(`[^a-zA-Z0-9]+`).ReplaceAllString(s.kind+" "+name, "-")+".pprof")
	taken := make(chan error, 1)
	go func() { taken <- s.profile(ctx, file, s.seconds) }()
	got, err := drive(ctx, d)
	if failed := <-taken; err == nil {
		err = failed
	}
	return got, err
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
