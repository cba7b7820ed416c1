package remote_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bursar/bursar/signer/remote"
)

// servedAt is the variable with the address of the process that the test of the memory starts.
const servedAt = "BURSAR_TEST_SIGNER_AT"

// A signer that runs out of memory is restarted by its supervisor, and signs nothing meanwhile. 60 bodies of 16 MiB at
// once, of the kinds that take most, must leave it below a bound, and it must answer afterwards.
func TestConcurrentBodiesTakeBoundedMemory(t *testing.T) {
	if at := os.Getenv(servedAt); at != "" {
		b := newHarness(t)
		defer b.serve(remote.Address{URL: at})()
		fmt.Println("listening")
		io.Copy(io.Discard, os.Stdin) // until the test ends
		return
	}
	if testing.Short() {
		t.Skip("it sends a gigabyte")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the peak of a process's memory is read from /proc")
	}
	t.Parallel()
	at := socket(t)
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConcurrentBodiesTakeBoundedMemory$")
	process.Env = append(os.Environ(), servedAt+"="+at.URL)
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); process.Wait() })
	if lines := bufio.NewScanner(stdout); !lines.Scan() || lines.Text() != "listening" {
		t.Fatalf("it says %q", lines.Text())
	}
	path := strings.TrimPrefix(at.URL, "unix:")
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() { flood(t, client, i) })
	}
	group.Wait()
	c := newHarness(t).dial(at)
	if _, err := c.Hello(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if peak := peakOf(t, process.Process.Pid); peak > 350<<20 {
		t.Errorf("the signer took %d MiB, want at most %v", peak>>20, 350<<20)
	} else {
		t.Logf("the signer took %d MiB at most", peak>>20)
	}
}

// flood sends one body of almost 16 MiB: a long text, bytes, or many elements.
func flood(t *testing.T, client *http.Client, i int) {
	const length = 16<<20 - 64
	head, part, tail := `{"chain":"`, "x", `"}`
	switch i % 3 {
	case 1:
		head, part, tail = `{"chain":"ethereum","draft":{"unsigned":"`, "AAAA", `"}}`
	case 2:
		head, part, tail = `{"chain":"ethereum","order":{"payments":[`, "{},", `{}]}}`
	}
	n := (length - len(head) - len(tail)) / len(part)
	body := io.MultiReader(strings.NewReader(head), &repeated{part: []byte(part), left: n}, strings.NewReader(tail))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://signer/v1/sign", body)
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Bursar-Signer-Protocol", strconv.Itoa(remote.Version))
	r.ContentLength = int64(len(head) + n*len(part) + len(tail))
	answer, err := client.Do(r)
	if err != nil {
		return // the connection is closed on a request that is not read
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		t.Errorf("body %d is accepted", i)
	}
}

// repeated is a text that is repeated, without its memory.
type repeated struct {
	part []byte
	left int
	rest []byte
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			if r.left == 0 {
				return n, io.EOF
			}
			r.left--
			r.rest = r.part
		}
		k := copy(p[n:], r.rest)
		n, r.rest = n+k, r.rest[k:]
	}
	return n, nil
}

// peakOf returns the highest resident memory of a process so far.
func peakOf(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, is := strings.CutPrefix(line, "VmHWM:"); is {
			kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("no peak is there")
	return 0
}

// A list of empty objects takes many times its own size once it is decoded.
func TestElementsAreCounted(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	for n, want := range map[int]int{150_000: http.StatusForbidden, 250_000: http.StatusBadRequest} {
		body := `{"order":{"payments":[` + strings.Repeat("{},", n) + `{}]}}`
		w := httptest.NewRecorder()
		b.server.Handler().ServeHTTP(w, ask("/v1/sign", strings.NewReader(body)))
		if w.Code != want {
			t.Errorf("%d elements: HTTP %d %s, want %v", n, w.Code, w.Body, want)
		}
	}
}

// What a body of unknown length takes cannot be set aside.
func TestABodyHasALength(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	r := ask("/v1/sign", io.NopCloser(bytes.NewReader([]byte("{}"))))
	r.ContentLength = -1
	w := httptest.NewRecorder()
	b.server.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusLengthRequired {
		t.Errorf("HTTP %d %s, want %d", w.Code, w.Body, http.StatusLengthRequired)
	}
}

// More requests than are admitted get an answer at once, which the service takes for a signer that is not available.
func TestMoreRequestsThanAreAdmitted(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	handler := b.server.Handler()
	var group sync.WaitGroup
	stuck := make([]*stuckBody, 64)
	for i := range stuck {
		stuck[i] = &stuckBody{reading: make(chan struct{}), end: make(chan struct{})}
		r := ask("/v1/sign", stuck[i])
		r.ContentLength = 1
		group.Go(func() { handler.ServeHTTP(httptest.NewRecorder(), r) })
		<-stuck[i].reading
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("POST", "/v1/hello", strings.NewReader("{}")))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("HTTP %d %s, want %d", w.Code, w.Body, http.StatusServiceUnavailable)
	}
	for _, s := range stuck {
		close(s.end)
	}
	group.Wait()
	w = httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("POST", "/v1/hello", strings.NewReader("{}")))
	if w.Code != http.StatusOK {
		t.Errorf("afterwards: HTTP %d %s, want %d", w.Code, w.Body, http.StatusOK)
	}
}

// stuckBody is a body that ends when the test says so.
type stuckBody struct {
	reading, end chan struct{}
	once         sync.Once
}

func (s *stuckBody) Read([]byte) (int, error) {
	s.once.Do(func() { close(s.reading) })
	<-s.end
	return 0, errors.New("given up")
}

// Connections beyond the bound wait until another is closed.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	stop := b.serve(at)
	path := strings.TrimPrefix(at.URL, "unix:")
	var open []net.Conn
	for range 128 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "unix", path)
		b.must(err)
		open = append(open, conn)
		fmt.Fprint(conn, "POST /v1/hello HTTP/1.1\r\nHost: signer\r\nContent-Length: 2\r\n\r\n{}")
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatalf("connection %d: %q, %v, want %q in it", len(open), line, err, "200")
		}
	}
	c := b.dial(at)
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() {
		_, err := c.Hello(ctx)
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("one more is answered: %v", err)
	default:
	}
	b.must(open[0].Close())
	if err := <-answered; err != nil {
		t.Errorf("after another was closed: %v", err)
	}
	cancel()
	for _, conn := range open[1:] {
		conn.Close()
	}
	stop()
}
