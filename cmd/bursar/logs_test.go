package main

import (
	"bufio"
	"context"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The log of requests of a real service is shown to the operator and to the account, by filters, and followed.
func TestTheLogOfRequestsIsShownAndFollowed(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	shop := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	base := d.serving()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	process := d.command(ctx, "--config", d.dir+"/bursar.yaml", "logs", "tail", "--account", "shop", "--status", "4xx")
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	d.answer("GET", base+"/api/v1/account", shop, "203.0.113.1", 200, "accountID")
	d.answer("GET", base+"/api/v1/wallet?walletID=nothing", shop, "203.0.113.1", 400, "walletID")
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.Contains(lines.Text(), " 400 GET  wallet ") ||
		!strings.Contains(lines.Text(), "invalid_request") || !strings.Contains(lines.Text(), shop.AccountID.String()) {
		t.Fatalf("logs tail prints %q, want the refused request", lines.Text())
	}
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("logs tail prints %q as well, want one line", lines.Text())
	}
	if err := process.Wait(); err != nil {
		t.Errorf("logs tail ends with %v, want success", err)
	}
	all := strings.Split(strings.TrimSpace(d.ok("logs", "tail", "--once")), "\n")
	if len(all) != 2 || !strings.Contains(all[0], " 200 GET  account ") || !strings.Contains(all[1], " 400 ") {
		t.Errorf("the log is %q, want both requests, the oldest first", all)
	}
	d.env = append(d.env, "BURSAR_API_KEY="+shop.APIKey)
	mine := parse[logged](d, "logs", "tail", "--once", "--json", "--api", base, "--path", "wallet", "--limit", "1")
	if mine.Status != 400 || mine.Code != "invalid_request" || mine.Path != "/api/v1/wallet" || mine.KeyID == "" {
		t.Errorf("the account sees %+v, want its refused request with its key", mine)
	}
	if one := d.ok("logs", "tail", "--once", "--request", mine.RequestID); strings.Count(one, "\n") != 1 ||
		!strings.Contains(one, mine.RequestID) {
		t.Errorf("by its ID are found %q, want the one request", one)
	}
	d.fails(exitUsage, "leave out --account", "logs", "tail", "--api", base, "--account", "shop")
	d.fails(exitUsage, "neither a status such as 422", "logs", "tail", "--status", "4")
	d.fails(exitUsage, "is not the ID of a request", "logs", "tail", "--request", "x")
}

// What appears late, as another replica wrote it later, is printed once, and what was not asked for is not.
func TestFollowingPrintsEachRequestOnce(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }
	log := []logged{{RequestID: "old", At: at(1)}, {RequestID: "a", At: at(100)}}
	tail := &logTail{seen: map[string]time.Time{}, read: func(_ context.Context, cursor string, limit int) (
		list []logged, next string, err error) {
		for _, l := range log {
			list = append([]logged{l}, list...)
		}
		return list[:min(limit, len(list))], "", nil
	}}
	names := func(list []logged, err error) string {
		var all []string
		for _, l := range list {
			all = append(all, l.RequestID)
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, " ")
	}
	if got := names(tail.first(t.Context(), 1)); got != "a" {
		t.Errorf("first are printed %q, want a", got)
	}
	log = append(log, logged{RequestID: "c", At: at(103)})
	if got := names(tail.more(t.Context())); got != "c" {
		t.Errorf("then are printed %q, want c", got)
	}
	log = append(log, logged{RequestID: "b", At: at(101)})
	if got := names(tail.more(t.Context())); got != "b" {
		t.Errorf("then are printed %q, want b, which came late", got)
	}
	if got := names(tail.more(t.Context())); got != "" {
		t.Errorf("then are printed %q, want nothing", got)
	}
}

// A client's machine has no configuration: the error names the flag with which the log of its account is read.
func TestALogWithoutAConfiguration(t *testing.T) {
	t.Parallel()
	d := newEmptyHarness(t)
	d.env = []string{"BURSAR_API_KEY=bk_any"}
	d.fails(exitUsage, "or name the service of BURSAR_API_KEY with --api", "logs", "tail", "--once")
}
