package webhook

import (
	"net/http"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

func TestTheScheduleIsThePublishedOne(t *testing.T) {
	t.Parallel()
	want := []string{"0s", "5s", "5m", "30m", "2h", "5h", "10h", "14h", "20h", "24h"}
	if len(want) != len(schedule) {
		t.Fatalf("%d attempts", len(schedule))
	}
	for i, text := range want {
		if gap, _ := time.ParseDuration(text); schedule[i] != gap {
			t.Errorf("attempt %d comes after %s, want %v", i+1, schedule[i], gap)
		}
	}
}

func TestTheDelayIsSpreadByATenth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rand func(int64) int64
		tens int64 // of a gap's tenths
	}{
		{func(int64) int64 { return 0 }, 9},
		{func(n int64) int64 { return n / 2 }, 10},
		{func(n int64) int64 { return n - 1 }, 11},
	} {
		d := New(Config{Rand: c.rand})
		for failed := 1; failed < len(schedule); failed++ {
			got, more := d.delay(failed)
			if want := schedule[failed] / 10 * time.Duration(c.tens); got != want || !more {
				t.Errorf("after %d failures %s, not %s", failed, got, want)
			}
		}
		if _, more := d.delay(len(schedule)); more {
			t.Error("there is an attempt after the last one")
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		code int
		text string
		want time.Duration
	}{
		{429, "120", 2 * time.Minute},
		{503, "0", 0},
		{503, "86400", 24 * time.Hour},
		{503, "86401", 24 * time.Hour},
		{429, "4294967295", 24 * time.Hour},
		{429, "99999999999999999999", 0},
		{429, "-5", 0},
		{429, "1.5", 0},
		{429, " 7", 0},
		{429, "", 0},
		{429, "soon", 0},
		{503, "Sat, 21 Nov 2026 12:10:00 GMT", 10 * time.Minute},
		{503, "Saturday, 21-Nov-26 12:10:00 GMT", 10 * time.Minute},
		{503, "Sat, 21 Nov 2026 11:00:00 GMT", 0},
		{503, "Sun, 21 Nov 2326 12:10:00 GMT", 24 * time.Hour},
		{500, "120", 0},
		{200, "120", 0},
	} {
		if got := retryAfter(c.code, http.Header{"Retry-After": {c.text}}, now); got != c.want {
			t.Errorf("%d with %q: %s, not %s", c.code, c.text, got, c.want)
		}
	}
}

func TestATestDeliveryIsShort(t *testing.T) {
	t.Parallel()
	for kind, want := range map[bursar.EventKind]int64{bursar.EventTest: 3, bursar.EventDeposit: 10,
		bursar.EventWithdrawal: 10, "": 10} {
		if got := attemptsOf(kind); got != want {
			t.Errorf("%s has %d attempts, want %v", kind, got, want)
		}
	}
}
