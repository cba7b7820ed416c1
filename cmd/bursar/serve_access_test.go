package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serving runs the service of a harness until the test ends and returns its address.
func (d *harness) serving() string {
	d.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	process := d.command(ctx, "serve", "--log-format", "json")
	log, err := process.StderrPipe()
	if err != nil {
		d.Fatal(err)
	}
	if err := process.Start(); err != nil {
		d.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	d.Cleanup(func() {
		defer cancel()
		if err := process.Process.Signal(syscall.SIGTERM); err != nil {
			d.Error(err)
		}
		drain(lines)
		if err := process.Wait(); err != nil {
			d.Errorf("serve ended with %v", err)
		}
	})
	return listening(d.T, lines)
}

// answer sends a request as a client whom the proxy saw at an address, and checks the status and a word of the
// response.
func (d *harness) answer(method, url string, key createdAccount, from string, status int, word string) {
	d.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, url, nil)
	if err != nil {
		d.Fatal(err)
	}
	r.Header.Set("X-API-KEY", key.APIKey)
	r.Header.Set("X-API-SECRET", key.APISecret)
	r.Header.Set("Forwarded", "for="+from)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil || response.StatusCode != status || !strings.Contains(string(body), word) {
		d.Errorf("%s %s from %s: %d %s, %v, want %d with %s", method, url, from, response.StatusCode, body, err, status, word)
	}
}

// TestCommandsApplyToARunningService changes keys and lists by command while the service runs, and has limits, proxies
// and clients' networks from the file.
func TestCommandsApplyToARunningService(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "chains: {tron: {rpc: 'http://127.0.0.1:1'}}", "currencies: {TRX: {minimum: 1}}",
		"proxies: [127.0.0.0/8]", "proxy_header: Forwarded", "client_networks: [192.0.2.0/24, 198.51.100.0/24]",
		"limits: {withdraw: 4/h burst 4}", "withdrawals: {destination_hold: 0s}")
	shop := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	key := parse[[]listedKey](d, "key", "list", "--json")[0].KeyID.String()
	const here, there = "192.0.2.1", "198.51.100.1"
	base := d.serving() + "/api/v1/account"
	order := base + "/withdraw?currency=TRX&amount=5&address=TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC"

	d.answer("GET", base, shop, here, 200, "balance")
	d.answer("GET", base, shop, "203.0.113.1", 403, "requests from this address are not allowed")
	d.ok("key", "allow-ip", key, "--add", "192.0.2.0/24")
	d.answer("GET", base, shop, there, 403, "forbidden")
	d.answer("GET", base, shop, here, 200, "balance")
	d.ok("key", "allow-ip", key, "--add", there, "--remove", "192.0.2.0/24")
	d.answer("GET", base, shop, there, 200, "balance")
	d.answer("GET", base, shop, here, 403, "forbidden")
	d.ok("key", "allow-ip", key, "--clear")
	d.ok("key", "scopes", key, "read")
	d.answer("POST", order, shop, here, 403, "forbidden")
	d.ok("key", "scopes", key, "read,withdraw")

	account := "--account=" + shop.AccountID.String()
	d.ok("destination", "enable", account)
	d.answer("POST", order, shop, here, 422, "destination_refused")
	d.ok("destination", "add", account, "--currency", "TRX", "--address", "415cd0fb0ab3ce40f3051414c604b27756e69e43db")
	// the address is allowed; only the node that quotes the fee is unreachable
	d.answer("POST", order, shop, here, 503, "unavailable")
	d.answer("POST", order, shop, there, 503, "unavailable")
	d.answer("POST", order, shop, here, 429, "rate_limited")

	d.ok("key", "revoke", key)
	d.answer("GET", base, shop, here, 401, "unauthorized")
}
