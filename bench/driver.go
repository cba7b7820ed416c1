package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// call is one request of a load: the bytes that go over the connection. turn counts the requests of the whole run, so
// that each is different where it must be.
type call func(turn int64) []byte

// load is what a number of connections, each with one request at a time, did for some time.
type load struct {
	Requests  int64 // that were answered with success
	Refused   int64 `json:",omitempty"`
	PerSecond float64
	P50, P99  time.Duration
	Processor time.Duration `json:",omitempty"` // of the program and its database's server, for each request
}

// driving is how a load is made.
type driving struct {
	addresses []string // host:port; the connections are spread over them
	conns     int
	end       func() bool // true when no further request is to be sent
	next      call
	turn      *atomic.Int64
	refusals  bool          // count answers that are no success, and go on
	pace      time.Duration // from one request of a connection to its next at least; 0: at once
	within    time.Duration // by when the end has to come; 0: longestDrive
}

// after returns a driving.end that is true once so much time has passed.
func after(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return time.Now().After(end) }
}

// longestDrive bounds a load whose end does not come, and how much longer than planned a timed one may take.
const longestDrive = 5 * time.Minute

// drive sends requests until the end, and fails if any answer is no success, unless refusals are counted. It writes and
// reads HTTP/1.1 by itself, because a full client would take more of the machine than the servers that it measures.
func drive(ctx context.Context, d driving) (load, error) {
	within := cmp.Or(d.within, longestDrive)
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("the service has not ended within %s", within))
	defer cancel()
	times := make([][]time.Duration, d.conns)
	errs := make([]error, d.conns)
	var refused atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	for i := range d.conns {
		group.Go(func() {
			times[i], errs[i] = d.one(ctx, d.addresses[i%len(d.addresses)], &refused)
		})
	}
	group.Wait()
	took := time.Since(start)
	all := slices.Concat(times...)
	err := errors.Join(errs...)
	if err != nil && ctx.Err() != nil { // the connections were closed for this, and each says only that
		err = context.Cause(ctx)
	}
	if err != nil {
		return load{}, fmt.Errorf("drive %s: %w", d.addresses, err)
	}
	if len(all) == 0 {
		return load{}, fmt.Errorf("drive %s: no request was made before the end", d.addresses)
	}
	slices.Sort(all)
	return load{
		Requests:  int64(len(all)),
		Refused:   refused.Load(),
		PerSecond: float64(len(all)) / took.Seconds(),
		P50:       percentile(all, 50),
		P99:       percentile(all, 99),
	}, nil
}

// one sends requests over one connection, and returns how long each took that was answered with success.
func (d driving) one(ctx context.Context, address string, refused *atomic.Int64) (times []time.Duration, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var paced <-chan time.Time
	if d.pace > 0 {
		ticker := time.NewTicker(d.pace)
		defer ticker.Stop()
		paced = ticker.C
	}
	r := bufio.NewReaderSize(conn, 16<<10)
	for !d.end() {
		if paced != nil {
			<-paced
		}
		begin := time.Now()
		if _, err := conn.Write(d.next(d.turn.Add(1))); err != nil {
			return nil, err
		}
		status, body, err := readAnswer(r)
		if err != nil {
			return nil, err
		}
		if !success(status) && d.refusals {
			refused.Add(1)
			continue
		}
		if !success(status) {
			return nil, fmt.Errorf("the answer is %d %.300s", status, body)
		}
		times = append(times, time.Since(begin))
	}
	return times, nil
}

var contentLength = []byte("content-length:")

var chunked = []byte("transfer-encoding: chunked")

// readAnswer reads one answer with a Content-Length, or in chunks. The body is returned unless the status is a
// success.
func readAnswer(r *bufio.Reader) (status int, body []byte, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 12 {
		return 0, nil, fmt.Errorf("the answer begins with %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, fmt.Errorf("the answer begins with %q", line)
	}
	length, inChunks := -1, false
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		if len(line) <= 2 {
			break
		}
		inChunks = inChunks || bytes.EqualFold(bytes.TrimSpace(line), chunked)
		if len(line) > len(contentLength) && bytes.EqualFold(line[:len(contentLength)], contentLength) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):]))); err != nil {
				return 0, nil, fmt.Errorf("a Content-Length: %w", err)
			}
		}
	}
	switch {
	case inChunks:
		body, err = readChunks(r)
		return status, body, err
	case length < 0:
		return 0, nil, errors.New("the answer has neither a Content-Length nor chunks")
	case success(status):
		_, err = r.Discard(length)
		return status, nil, err
	}
	body = make([]byte, length)
	_, err = io.ReadFull(r, body)
	return status, body, err
}

func success(status int) bool { return status >= 200 && status < 300 }

// readChunks reads a body in chunks and the empty line after it.
func readChunks(r *bufio.Reader) ([]byte, error) {
	body, err := io.ReadAll(httputil.NewChunkedReader(r))
	if err != nil {
		return nil, err
	}
	if line, err := r.ReadSlice('\n'); err != nil || len(bytes.TrimSpace(line)) > 0 {
		return nil, errors.Join(err, fmt.Errorf("after the chunks comes %q", line))
	}
	return body, nil
}

// request renders a request. headers end with \r\n each.
func request(method, target, headers, body string) []byte {
	text := method + " " + target + " HTTP/1.1\r\nHost: bench\r\n" + headers
	if body != "" {
		text += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return []byte(text + "\r\n" + body)
}

// fixed is a call that sends the same request each time.
func fixed(method, target, headers, body string) call {
	text := request(method, target, headers, body)
	return func(int64) []byte { return text }
}
