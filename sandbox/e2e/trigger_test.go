package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every event that can be triggered without waiting a minute for a charge's end really happens in a new sandbox, and
// about what the trigger made: also that of a withdrawal, which an account gets only once it asks for it.
func TestEveryEventIsTriggered(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the sandbox as a process: left out by -short")
	}
	t.Parallel()
	w := newHarness(t, build(t), "", "bitcoin")
	var known struct{ Events []string }
	w.triggers(&known, "list")
	if len(known.Events) < 13 {
		t.Errorf("%v can be triggered, want 13 events", known.Events)
	}
	var mine struct{ Subject string }
	w.triggers(&mine, "charge.paid", "--override", "reference=order-1001", "--override", "expires=600")
	var found struct{ Charge struct{ Reference string } }
	w.must(w.a.call(http.MethodGet, "charge", params{"chargeID": mine.Subject}, nil, &found))
	if got := found.Charge.Reference; got != "order-1001" {
		t.Errorf("the charge has the reference %q, want the one of --override", got)
	}
	freezes := func(event string) int { return strings.Count(event, "reversed") } // an account may owe what it lost
	slices.SortStableFunc(known.Events, func(a, b string) int { return freezes(a) - freezes(b) })
	for _, event := range known.Events {
		if event == "late" || event == "expired" {
			continue // sums_test.go waits for the ends of charges
		}
		var made struct{ Event, EventID, Subject string }
		w.triggers(&made, event)
		if made.Event != event || made.EventID == "" || made.Subject == "" {
			t.Errorf("%s was triggered as %+v, want its event about what was made", event, made)
		}
	}
}

// triggers runs the command beside the sandbox, with nothing but its URLs and its key.
func (w *harness) triggers(answer any, event string, flags ...string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, w.programs.bursar, append([]string{"trigger", event, "--json", "--within",
		(time.Minute).String()}, flags...)...)
	c.Env = append(os.Environ(), "BURSAR_API="+w.sandbox.API, "BURSAR_CONTROL="+w.sandbox.Control,
		"BURSAR_API_KEY="+w.a.APIKey, "BURSAR_API_SECRET="+w.a.APISecret)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		w.t.Errorf("trigger %s: %v: %s", event, err, said.String())
		return
	}
	if err := json.Unmarshal(out, answer); err != nil {
		w.t.Errorf("trigger %s prints %s: %v, want JSON", event, out, err)
	}
}
