package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
)

// TestTheStateIsNoWayOut attacks what the signer remembers: replays, restarts, halts that are lost, a second signer, an
// invented log, an older copy, a clock that was set back, and a state that is gone.
func TestTheStateIsNoWayOut(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	first := c.takes(60)
	c.want("a payment", first, "")
	c.want("replayed, it counts once", first, "")
	c.want("and the limit is what it was", c.takes(41), signer.ReasonQuota)

	second := exec.CommandContext(t.Context(), program)
	second.Dir, second.Env = c.folder, append([]string{"HOME=" + c.folder, "BURSAR_SIGNER_ADDRESS=unix:s2"}, c.env...)
	says, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(says), "another signer uses the state file") {
		t.Errorf("a second signer: %v, %s, want an error and %q in it", err, says, "another signer uses the state file")
	}

	invented := c.client.Checkpoint()
	invented.Number += 1000
	if err := c.client.Know(invented); !errors.Is(err, signer.ErrClaim) {
		t.Errorf("the client takes an invented entry: %v, want %v", err, signer.ErrClaim)
	}
	if status := c.post("/v1/sign", fmt.Sprintf(`{"chain":"polygon","seen":{"instance":%q,"number":%d,"hash":%q}}`,
		invented.Instance, invented.Number, invented.Hash)); status != http.StatusForbidden {
		t.Errorf("an invented entry: HTTP %d, want %d", status, http.StatusForbidden)
	}
	c.want("after an invented entry of the log", c.takes(1), "")

	c.stop(syscall.SIGKILL)
	c.launch()
	c.want("before it has heard of halts", c.takes(1), signer.ReasonHalted)
	c.resume()
	c.want("after a kill, its limit", c.takes(40), signer.ReasonQuota)
	c.want("a replay after a kill", first, "")

	older := c.copied()
	c.want("a payment that the older copy lacks", c.takes(20), "")
	seen := c.client.Checkpoint()
	c.stop(syscall.SIGKILL)
	c.put(older)
	c.start()
	c.must(c.client.Know(seen))
	c.want("with an older copy of the state", c.takes(1), signer.ReasonSetBack)
	c.want("again", c.takes(1), signer.ReasonFrozen)
	c.stop(syscall.SIGTERM)
	if _, says, code := c.run("begin-again", "--reason", "an old copy"); code != 0 {
		t.Fatalf("begin-again exits with %d: %s, want 0", code, says)
	}
	c.thaw()

	c.ahead(time.Hour) // as if the clock had been set back by an hour
	c.start()
	c.want("with a clock that was set back", c.takes(1), signer.ReasonClock)
	c.stop(syscall.SIGTERM)

	c.put(nil)
	c.start()
	c.want("without its state", c.takes(1), signer.ReasonQuota)
}

// post makes a request as no client does, and returns the status; 0 if the connection ended before.
func (c *lyingService) post(path, body string) int {
	c.t.Helper()
	answer, err := c.raw(path, strings.NewReader(body), int64(len(body)))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

func (c *lyingService) raw(path string, body io.Reader, length int64) (*http.Response, error) {
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://signer"+path, body)
	c.must(err)
	r.ContentLength = length
	r.Header.Set("Bursar-Signer-Protocol", fmt.Sprint(remote.Version))
	return (&http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.folder, "s"))
		}}}).Do(r)
}

// copied returns the files of the state as they are.
func (c *lyingService) copied() map[string][]byte {
	c.t.Helper()
	files := map[string][]byte{}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(filepath.Join(c.folder, "seed.age.state"+suffix))
		if err == nil {
			files[suffix] = content
		}
	}
	return files
}

// put replaces the files of the state; without any the state is lost.
func (c *lyingService) put(files map[string][]byte) {
	c.t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		path := filepath.Join(c.folder, "seed.age.state"+suffix)
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			c.t.Fatal(err)
		}
		if content, is := files[suffix]; is {
			c.must(os.WriteFile(path, content, 0o600))
		}
	}
}

// TestBadRequestsEndNothing sends what no client sends: bodies that are too long, that end early, that have no end,
// that nest, and requests without a version. The process goes on and signs the next one.
func TestBadRequestsEndNothing(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	for body, want := range map[string]int{
		"":                       http.StatusBadRequest,
		strings.Repeat("[", 1e6): http.StatusBadRequest,
		`{"chain":"polygon"} {}`: http.StatusBadRequest,
		`{"chain":"polygon"}`:    http.StatusForbidden,
		`{"seed":true}`:          http.StatusBadRequest,
	} {
		got := c.post("/v1/sign", body)
		if closed := got == 0 && len(body) > 1<<16; got != want && !closed { // the rest of a long one may not be read
			t.Errorf("%.40q: HTTP %d, want %d", body, got, want)
		}
	}
	if answer, err := c.raw("/v1/sign", strings.NewReader(strings.Repeat("x", 17e6)), 17e6); err == nil {
		answer.Body.Close() // mostly the connection is closed before the body is sent
		if answer.StatusCode != http.StatusBadRequest {
			t.Errorf("a body that is too long: HTTP %d, want %d", answer.StatusCode, http.StatusBadRequest)
		}
	}
	var stuck []net.Conn
	for range 40 { // each announces the longest body, sends a part of it, and goes
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", filepath.Join(c.folder, "s"))
		c.must(err)
		_, err = fmt.Fprintf(conn,
			"POST /v1/sign HTTP/1.1\r\nHost: s\r\nBursar-Signer-Protocol: %d\r\nContent-Length: %d\r\n\r\n{",
			remote.Version, 16<<20)
		c.must(err)
		stuck = append(stuck, conn)
	}
	slow := bytes.Repeat([]byte(" "), 100)
	if answer, err := c.raw("/v1/keys", bytes.NewReader(slow), int64(len(slow))); err == nil {
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Error("spaces are answered")
		}
	}
	for _, conn := range stuck {
		c.must(conn.Close())
	}
	c.client.Close()
	order := c.takes(1)
	for range 10 { // each attempt waits in the signer for as long as it has no memory to spare
		if _, err := c.sign(order); !errors.Is(err, remote.ErrUnavailable) {
			break
		}
	}
	c.want("after forty requests that did not end", order, "")
}
