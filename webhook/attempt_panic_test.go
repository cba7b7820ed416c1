package webhook

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar/store"
)

// panicking panics at its first request, as code does after a response that no rule covers.
type panicking struct {
	http.Client
	asked atomic.Int64
}

func (e *panicking) Do(*http.Request) (*http.Response, error) {
	if e.asked.Add(1) == 1 {
		panic("an unforeseen answer")
	}
	answer := httptest.NewRecorder()
	answer.WriteHeader(http.StatusNoContent)
	return answer.Result(), nil
}

// An attempt that panics is a failed attempt: it is recorded and repeated, and neither other events nor the process
// end.
func TestAPanicIsAFailedAttempt(t *testing.T) {
	each(t, func(t *testing.T, s *harness) {
		d := s.deliverer(s.db)
		d.client = &panicking{}
		first := s.event("http://127.0.0.1:9000/a")
		if err := d.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		failed, past := s.find(first)
		if failed.Status != store.DeliveryPending || len(past) != 1 || past[0].Error != "there was no valid answer" {
			t.Fatalf("after the panic it is %+v with attempts %+v, want %v and 1 of them and %q", failed, past,
				store.DeliveryPending, "there was no valid answer")
		}
		second := s.event("http://127.0.0.1:9000/a")
		if err := d.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if other, _ := s.find(second); other.Status != store.DeliveryDelivered {
			t.Fatalf("another event is %+v, want %v", other, store.DeliveryDelivered)
		}
	})
}
