package receiver

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func listen(t *testing.T, address string) *Receiver {
	t.Helper()
	r, err := Listen(t.Context(), address, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

func deliver(t *testing.T, url, body string) int {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Webhook-Id", "one")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

func TestKeepsWhatItIsSent(t *testing.T) {
	t.Parallel()
	r := listen(t, Own)
	if status := deliver(t, r.URL()+"/a", " {\"a\":1}\n"); status != http.StatusNoContent {
		t.Errorf("status %d, want %d", status, http.StatusNoContent)
	}
	got := r.Deliveries()
	if len(got) != 1 || got[0].Body != " {\"a\":1}\n" || got[0].Headers["webhook-id"] != "one" ||
		got[0].Path != "/webhook/a" || got[0].Status != http.StatusNoContent || got[0].ReceivedAt.IsZero() {
		t.Errorf("kept %+v", got)
	}
}

func TestAnswersAsOrdered(t *testing.T) {
	t.Parallel()
	r := listen(t, Own)
	order := func(status, count int) {
		if err := r.Answer(status, count); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...int) {
		for _, status := range want {
			if got := deliver(t, r.URL(), "{}"); got != status {
				t.Errorf("answered %d, want %d", got, status)
			}
		}
	}
	order(503, 2)
	expect(503, 503, 204)
	order(410, 0)
	expect(410, 410, 410)
	order(200, 1)
	expect(200, 204)
	for _, wrong := range [][2]int{{199, 1}, {600, 1}, {200, -1}} {
		if r.Answer(wrong[0], wrong[1]) == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}

func TestForgetsTheOldestFirst(t *testing.T) {
	t.Parallel()
	r := &Receiver{now: time.Now, status: http.StatusNoContent}
	big := strings.Repeat("x", maxBytes/4)
	for _, path := range []string{"1", "2", "3", "4", "5"} {
		r.keep(Delivery{Path: path, Body: big})
	}
	if got := r.Deliveries(); len(got) != 4 || got[0].Path != "2" {
		t.Errorf("%d deliveries are kept, want 4 of them and %q", len(got), "2")
	}
	for range maxKept + 5 {
		r.keep(Delivery{})
	}
	if got := r.Deliveries(); len(got) != maxKept {
		t.Errorf("%d deliveries are kept, want %v", len(got), maxKept)
	}
}

func TestTakesAnotherLoopbackAddressWhereItMust(t *testing.T) {
	t.Parallel()
	r := listen(t, "198.51.100.1:0") // TEST-NET-2 (RFC 5737): not an address of this machine
	if !r.Address().IsLoopback() {
		t.Errorf("listens on %v", r.Address())
	}
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := Listen(t.Context(), taken.Addr().String(), time.Now); err == nil {
		t.Error("an address in use was listened on again")
	}
}
