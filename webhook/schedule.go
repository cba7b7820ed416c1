package webhook

import (
	"net/http"
	"strconv"
	"time"

	"github.com/bursar/bursar"
)

// schedule holds the delay of each attempt after the one before. It is the schedule that Standard Webhooks suggests,
// and takes a little over three days in total.
var schedule = [...]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	20 * time.Hour, 24 * time.Hour,
}

// testAttempts is how many attempts a test event gets: somebody waits for it, so it must not come days later.
const testAttempts = 3

// attemptsOf returns how many attempts of the schedule an event of a kind gets.
func attemptsOf(kind bursar.EventKind) int64 {
	if kind == bursar.EventTest {
		return testAttempts
	}
	return int64(len(schedule))
}

// longestRetryAfter is the longest time for which a receiver may put an event off.
const longestRetryAfter = 24 * time.Hour

// delay returns the time to the next attempt after so many failed ones, with a jitter of a tenth to both sides; false
// when there is no attempt left.
func (d *Deliverer) delay(failed int) (time.Duration, bool) {
	if failed >= len(schedule) {
		return 0, false
	}
	gap := schedule[failed]
	return gap - gap/10 + time.Duration(d.rand(int64(gap/5)+1)), true
}

// retryAfter reads the Retry-After header, seconds or a date (RFC 9110, section 10.2.3), from a response whose status
// allows it; 0 where there is nothing to honour.
func retryAfter(code int, header http.Header, now time.Time) time.Duration {
	if code != http.StatusTooManyRequests && code != http.StatusServiceUnavailable {
		return 0
	}
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, longestRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longestRetryAfter)
	}
	return 0
}

// delivered reports whether a status code confirms the delivery.
func delivered(code int) bool { return code >= 200 && code <= 299 }
