package webhook

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestStatsCountTheOutcomesOfAttempts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
			code := map[string]int{"/3": 302, "/4": 404, "/5": 500, "/9": 799}[req.URL.Path]
			w.WriteHeader(max(code, 200))
		})
		gone := newReceiver(t, nil)
		gone.Close()
		d := s.deliverer(s.db)
		d.times.attempt = 2 * time.Second // of the one that hangs; the others must not meet it on a busy machine
		shut := d.queues.queue(queueKey{customer, hostOf("http://127.0.0.9:9999/")}, time.Now())
		shut.shutUntil = time.Now().Add(time.Hour)
		s.run(d)
		for _, c := range []struct {
			url  string
			want Outcome
		}{
			{r.URL, Outcome2xx}, {r.URL + "/3", Outcome3xx}, {r.URL + "/4", Outcome4xx}, {r.URL + "/5", Outcome5xx},
			{r.URL + "/9", OutcomeInvalid}, {gone.URL, OutcomeConnection}, {"http://no-such-host.invalid/", OutcomeDNS},
			{strings.Replace(newReceiver(t, nil).URL, "http", "https", 1), OutcomeTLS}, {"http://10.0.0.1/", OutcomeRefused},
			{"http://127.0.0.9:9999/", OutcomeSkipped},
			{hanging(t).URL, OutcomeTimeout}, // last: the others are due again before it is given up
		} {
			url, want := c.url, c.want
			before := d.Stats()
			s.tried(s.event(url), 1)
			after := d.Stats()
			for _, o := range Outcomes() {
				if more := after.Attempts[o] - before.Attempts[o]; (more == 1) != (o == want) || more > 1 {
					t.Errorf("%s: %d more of %s", url, more, o)
				}
			}
		}
		got := d.Stats()
		if got.Seconds.Count != uint64(len(Outcomes())-1) || got.Seconds.Within[15] != got.Seconds.Count ||
			got.Seconds.Sum < 0.2 || got.Seconds.Within[0.1] >= got.Seconds.Count {
			t.Errorf("the times are %+v", got.Seconds)
		}
		if got.Shut != 1 || got.Sending != 0 {
			t.Errorf("it is %+v, want 1 and 0", got)
		}
	})
}
