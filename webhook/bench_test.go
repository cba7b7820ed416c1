package webhook

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/store/storetest"
)

const benchEvents = 10_000

// counter is a healthy receiver that keeps nothing but a count.
func counter(b *testing.B) (url string, count *atomic.Int64) {
	count = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		io.Copy(io.Discard, req.Body)
		count.Add(1)
		w.WriteHeader(204)
	}))
	b.Cleanup(server.Close)
	return server.URL, count
}

// BenchmarkDeliver sends 10,000 events to a healthy receiver while another one, with 100 events due before, hangs. Each
// is leased, signed, sent and recorded.
func BenchmarkDeliver(b *testing.B) {
	for name, open := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite,
		"postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := newHarness(b, open(b))
				bad := hanging(b)
				url, count := counter(b)
				s.events(bad.URL, 100)
				s.events(url, benchEvents)
				d := s.deliverer(s.db)
				d.times.grace = 10 * time.Millisecond
				b.StartTimer()
				stop := s.run(d)
				s.until("all deliveries", func() bool { return count.Load() == benchEvents })
				stop()
			}
			b.ReportMetric(benchEvents*float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
		})
	}
}

// BenchmarkBarePost sends as many requests without the rest of the work, as many at once as a destination queue allows.
func BenchmarkBarePost(b *testing.B) {
	url, _ := counter(b)
	d := New(Config{AllowNetworks: loopback})
	body := bytes.Repeat([]byte("x"), 300)
	for b.Loop() {
		var group sync.WaitGroup
		for range d.queues.limits.destination {
			group.Go(func() {
				for range benchEvents / d.queues.limits.destination {
					resp, err := (&http.Client{Transport: d.client.(*poster).transport}).Post(url, "application/json",
						bytes.NewReader(body))
					if err != nil {
						b.Error(err)
						return
					}
					resp.Body.Close()
				}
			})
		}
		group.Wait()
	}
	b.ReportMetric(benchEvents*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
