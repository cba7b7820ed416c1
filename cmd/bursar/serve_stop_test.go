package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
)

// TestServeFinishesRequestsInProgress stops the process while one client is in the middle of a request and another is
// idle. The first is answered and its change kept, the connection of the other is closed, and no new client is
// accepted.
func TestServeFinishesRequestsInProgress(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	created := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	serving := d.command(ctx, "serve", "--log-format", "json")
	log, err := serving.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serving.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	address := strings.TrimPrefix(listening(t, lines), "http://")
	busy, idle := connect(t, address), connect(t, address)
	fmt.Fprint(idle, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
	fromIdle := bufio.NewReader(idle)
	if answer := heard(t, fromIdle); answer != "200 OK" {
		t.Fatalf("the idle client hears %s, want %q", answer, "200 OK")
	}
	const order = `{"currency":"BTC","webhook":"https://shop.example"}`
	fmt.Fprintf(busy,
		"POST /api/v1/wallet HTTP/1.1\r\nHost: a\r\nX-API-KEY: %s\r\nContent-Type: application/json\r\nContent-Length: "+
			"%d\r\nExpect: 100-continue\r\n\r\n", created.APIKey, len(order))
	fromBusy := bufio.NewReader(busy)
	if answer := heard(t, fromBusy); answer != "100 Continue" { // the service is reading the body now
		t.Fatalf("the busy client hears %s, want %q", answer, "100 Continue")
	}
	if err := serving.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, fromIdle); err != nil {
		t.Errorf("the idle client's connection is not closed: %v", err)
	}
	if late, err := net.Dial("tcp", address); err == nil {
		late.Close()
		t.Error("a new client was accepted, want an error")
	}
	fmt.Fprint(busy, order)
	if answer := heard(t, fromBusy); answer != "200 OK" {
		t.Errorf("the busy client hears %s, want %q", answer, "200 OK")
	}
	rest := drain(lines)
	if err := serving.Wait(); err != nil || !strings.Contains(rest, `"msg":"stopped"`) {
		t.Errorf("it ended with %v after\n%s, want %q in it", err, rest, `"msg":"stopped"`)
	}
	d.change(func(ctx context.Context, tx *store.Tx) error {
		if n, err := tx.Wallets().Newest(ctx); err != nil || n != 1 {
			t.Errorf("there are %d wallets, %v, want 1", n, err)
		}
		return nil
	})
}

func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// heard reads one answer and returns its status.
func heard(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.Status
}
