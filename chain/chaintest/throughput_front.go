package chaintest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"
)

// bigAnswer is the size from which an answer is a large one, such as a block. In bytes.
const bigAnswer = 64 << 10

// front is a proxy before a node: it answers after the latency, and counts.
type front struct {
	node    http.Handler
	latency latency
	wait    func(context.Context, time.Duration)

	calls, posts, bytes atomic.Int64
}

func (f *front) reset() {
	f.calls.Store(0)
	f.posts.Store(0)
	f.bytes.Store(0)
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.posts.Add(1)
	f.calls.Add(int64(calls(body)))
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := &delayed{ResponseWriter: w, front: f, ctx: r.Context(), status: http.StatusOK}
	if f.latency.gzip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		answer.zip, _ = gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is valid
	}
	f.node.ServeHTTP(answer, r)
	answer.close()
}

// calls counts the calls of a request: each of a batch.
func calls(body []byte) int {
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		return 1
	}
	return len(batch)
}

// delayed keeps an answer back until it is complete, or large, and the latency of its size has passed.
type delayed struct {
	http.ResponseWriter
	front  *front
	ctx    context.Context
	zip    *gzip.Writer
	status int
	kept   []byte
	sent   bool
}

// WriteHeader is called by a node that answers with another status than 200.
func (d *delayed) WriteHeader(status int) { d.status = status }

// Write keeps the beginning of an answer back until its size class is known.
func (d *delayed) Write(p []byte) (int, error) {
	d.front.bytes.Add(int64(len(p)))
	if d.sent {
		return d.out(p)
	}
	if d.kept = append(d.kept, p...); len(d.kept) < bigAnswer {
		return len(p), nil
	}
	if err := d.release(d.front.latency.big); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (d *delayed) release(after time.Duration) error {
	d.front.wait(d.ctx, after)
	d.sent = true
	d.ResponseWriter.Header().Del("Content-Length") // of an answer that is not compressed
	d.ResponseWriter.WriteHeader(d.status)
	_, err := d.out(d.kept)
	d.kept = nil
	return err
}

func (d *delayed) out(p []byte) (int, error) {
	if d.zip != nil {
		return d.zip.Write(p)
	}
	return d.ResponseWriter.Write(p)
}

// close ends an answer. Errors are ignored: they mean that the client is gone.
func (d *delayed) close() {
	if !d.sent {
		_ = d.release(d.front.latency.small)
	}
	if d.zip != nil {
		_ = d.zip.Close()
	}
}

// wait returns after d, or earlier when the client is gone.
func wait(ctx context.Context, d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watchHeap samples the heap until the returned function is called, which returns by how many bytes it grew at most.
func watchHeap() (peak func() uint64) {
	runtime.GC()
	before, most := heapNow(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				most = max(most, heapNow())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-done
		return most - min(before, most)
	}
}

func heapNow() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
