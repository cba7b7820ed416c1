package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// call is one request of a load: the bytes that go over the connection. turn counts the requests of the whole load, so
// that each is different where it must be.
type call func(turn int64) []byte

// load is what a number of connections, each with one request at a time, did for some time.
type load struct {
	Requests  int64
	PerSecond float64
	P50, P99  time.Duration
}

// drive sends requests to an address over n connections for a time, and fails if any answer is not 200. It writes and
// reads HTTP/1.1 by itself, because a full client would take more of the machine than the servers that it measures.
func drive(
	ctx context.Context, address string, n int, last time.Duration, next call, turn *atomic.Int64,
) (load, error) {
	ctx, cancel := context.WithTimeout(ctx, last+30*time.Second)
	defer cancel()
	times := make([][]time.Duration, n)
	errs := make([]error, n)
	var group sync.WaitGroup
	start := time.Now()
	end := start.Add(last)
	for i := range n {
		group.Go(func() {
			times[i], errs[i] = driveOne(ctx, address, end, next, turn)
		})
	}
	group.Wait()
	took := time.Since(start)
	all := slices.Concat(times...)
	if err := errors.Join(errs...); err != nil || len(all) == 0 {
		return load{}, fmt.Errorf("drive %s: %w", address, err)
	}
	slices.Sort(all)
	return load{
		Requests:  int64(len(all)),
		PerSecond: float64(len(all)) / took.Seconds(),
		P50:       all[len(all)/2],
		P99:       all[len(all)*99/100],
	}, nil
}

func driveOne(
	ctx context.Context, address string, end time.Time, next call, turn *atomic.Int64,
) (times []time.Duration, err error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	r := bufio.NewReaderSize(conn, 16<<10)
	for {
		begin := time.Now()
		if begin.After(end) {
			return times, nil
		}
		if _, err := conn.Write(next(turn.Add(1))); err != nil {
			return nil, err
		}
		status, body, err := readAnswer(r)
		if err != nil {
			return nil, err
		}
		if status != 200 {
			return nil, fmt.Errorf("the answer is %d %.300s", status, body)
		}
		times = append(times, time.Since(begin))
	}
}

var contentLength = []byte("content-length:")

// readAnswer reads one answer with a Content-Length.
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
	length := -1
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return 0, nil, err
		}
		if len(line) <= 2 {
			break
		}
		if len(line) > len(contentLength) && bytes.EqualFold(line[:len(contentLength)], contentLength) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):]))); err != nil {
				return 0, nil, fmt.Errorf("a Content-Length: %w", err)
			}
		}
	}
	if length < 0 {
		return 0, nil, errors.New("the answer has no Content-Length")
	}
	if status == 200 {
		_, err = r.Discard(length)
		return status, nil, err
	}
	body = make([]byte, length)
	_, err = io.ReadFull(r, body)
	return status, body, err
}

// request renders a request. headers end with \r\n each.
func request(method, target, headers, body string) []byte {
	text := method + " " + target + " HTTP/1.1\r\nHost: bench\r\n" + headers
	if body != "" {
		text += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return []byte(text + "\r\n" + body)
}
