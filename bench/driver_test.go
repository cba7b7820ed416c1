package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// served drives a handler over some connections until it has answered so many requests.
func served(t *testing.T, count int64, handler http.HandlerFunc) (load, error) {
	t.Helper()
	var answered, turn atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler(w, r)
		answered.Add(1)
	}))
	t.Cleanup(server.Close)
	return drive(t.Context(), driving{
		addresses: []string{strings.TrimPrefix(server.URL, "http://")},
		conns:     4,
		end:       func() bool { return answered.Load() >= count },
		next: func(turn int64) []byte {
			return request("POST", "/path", "X-Turn: "+fmt.Sprint(turn)+"\r\n", `{"a":1}`)
		},
		turn: &turn,
	})
}

func TestDriveCountsEveryRequest(t *testing.T) {
	t.Parallel()
	var got atomic.Int64
	l, err := served(t, 100, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/path" || r.ContentLength != 7 || r.Header.Get("X-Turn") == "" {
			t.Errorf("the request is %s %s with %d bytes, want %v and %q and 7 and not %q", r.Method, r.URL,
				r.ContentLength, http.MethodPost, "/path", "")
		}
		got.Add(1)
		fmt.Fprint(w, `{"success":true}`)
	})
	if err != nil || l.Requests != got.Load() || l.Requests < 100 {
		t.Errorf("%d requests were counted, the server had %d, %v", l.Requests, got.Load(), err)
	}
	if l.PerSecond <= 0 || l.P50 <= 0 || l.P99 < l.P50 {
		t.Errorf("the load is %+v, want more than 0 and at least %v", l, l.P50)
	}
}

func TestDriveReadsBodiesInChunks(t *testing.T) {
	t.Parallel()
	_, err := served(t, 50, func(w http.ResponseWriter, _ *http.Request) {
		for range 20 {
			fmt.Fprint(w, strings.Repeat("x", 1000))
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDriveFailsOnAnotherAnswerThan200(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"short", strings.Repeat("long", 1000)} {
		_, err := served(t, 10, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, body)
		})
		if err == nil || !strings.Contains(err.Error(), "409") || !strings.Contains(err.Error(), body[:5]) {
			t.Errorf("the error is %v, want an error and %q in it and %v in it", err, "409", body[:5])
		}
	}
}

// A load whose end does not come is ended, and says so once, not once for each connection.
func TestALoadThatDoesNotEndIsEnded(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"success":true}`)
	}))
	t.Cleanup(server.Close)
	var turn atomic.Int64
	_, err := drive(t.Context(), driving{
		addresses: []string{strings.TrimPrefix(server.URL, "http://")},
		conns:     4,
		end:       func() bool { return false },
		next:      fixed("GET", "/", "", ""),
		turn:      &turn,
		within:    50 * time.Millisecond,
	})
	if err == nil || !strings.Contains(err.Error(), "not ended within 50ms") || strings.Contains(err.Error(), "closed") {
		t.Errorf("the error is %v, want an error and %q in it and no %q", err, "not ended within 50ms", "closed")
	}
}

func TestReadAnswerRefusesWhatItCannotDelimit(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\n\r\nbody",
		"HTTP/1.1 2xx OK\r\n\r\n",
		"HTTP\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
	} {
		if _, _, err := readAnswer(bufio.NewReader(strings.NewReader(text))); err == nil {
			t.Errorf("%q was read without an error", text)
		}
	}
}

func TestPercentiles(t *testing.T) {
	t.Parallel()
	var times []time.Duration
	for i := range 200 {
		times = append(times, time.Duration(i+1))
	}
	for _, test := range []struct {
		of      []time.Duration
		percent int
		want    time.Duration
	}{
		{times, 50, 100}, {times, 99, 198}, {times, 100, 200}, {times[:1], 99, 1}, {times[:1], 0, 1}, {times[:3], 50, 2},
	} {
		if got := percentile(test.of, test.percent); got != test.want {
			t.Errorf("%d%% of %d times is %d, want %d", test.percent, len(test.of), got, test.want)
		}
	}
}

func TestTheReferenceDelivers(t *testing.T) {
	t.Parallel()
	r, err := newReceiver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	for range 2 {
		done := r.expect(100)
		if err := deliver(t.Context(), r.url, 100); err != nil {
			t.Fatal(err)
		}
		<-done
		if first, last, count := r.got(); count != 100 || last.Before(first) {
			t.Errorf("%d requests came from %s to %s", count, first, last)
		}
	}
}

func TestProcessorTime(t *testing.T) {
	t.Parallel()
	const stat = "42 (a) name) S 1 42 42 0 -1 4194560 900 0 3 0 150 50 0 0 20 0 9 0 100 1 2 3"
	if got, err := processorTime(stat); err != nil || got != 2*time.Second {
		t.Errorf("the processor time is %s, %v; want 2s", got, err)
	}
	if _, err := processorTime("42 (name) S 1"); err == nil {
		t.Error("a line that is cut off was read, want an error")
	}
}
