package webhook

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bursar/bursar"
)

func oracle(t *testing.T, generation uint32) *standard.Webhook {
	t.Helper()
	hook, err := standard.NewWebhookRaw(fixedSecrets{}.WebhookSecret(customer, generation))
	if err != nil {
		t.Fatal(err)
	}
	return hook
}

// The vector that the libraries of Standard Webhooks are tested with, in every language.
func TestThePublishedSignature(t *testing.T) {
	t.Parallel()
	secret, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	other, at, body := []byte("another secret"), time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)
	const id, want = "msg_p5jXN8AQM9LWM0D4loKWxJek", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got := signature([][]byte{secret}, id, at, body); got != want || timestamp(at) != "1614265330" {
		t.Errorf("signed %s at %s, want %v and %q", got, timestamp(at), want, "1614265330")
	}
	if got := signature([][]byte{other, secret}, id, at, body); !strings.HasSuffix(got, " "+want) ||
		strings.Count(got, "v1,") != 2 {
		t.Errorf("signed with two secrets %s, want %v last and 2", got, " "+want)
	}
}

func TestTheSignatureIsThatOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 999)
	for _, body := range []string{"", "{}", `{"a":"ü"}`, strings.Repeat("x", 10_000), "\x00\xff.\n"} {
		want, err := oracle(t, 1).Sign(bursar.ID{7}.String(), at, []byte(body))
		got := signature([][]byte{fixedSecrets{}.WebhookSecret(customer, 1)}, bursar.ID{7}.String(), at, []byte(body))
		if err != nil || got != want {
			t.Errorf("%.20q: %s, not %s, %v", body, got, want, err)
		}
	}
}

func TestBothSecretsSignDuringAnOverlap(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, c := range []struct {
		name       string
		generation uint32
		overlap    time.Time
		valid      []bool // by secret 1, 2, 3
	}{
		{"first", 1, time.Time{}, []bool{true, false, false}},
		{"first, with an overlap that means nothing", 1, now.Add(time.Hour), []bool{true, false, false}},
		{"rotated", 2, now.Add(time.Hour), []bool{true, true, false}},
		{"rotated, at the end", 2, now, []bool{false, true, false}},
		{"rotated twice", 3, now.Add(time.Hour), []bool{false, true, true}},
	} {
		account := bursar.Account{ID: customer, WebhookGeneration: c.generation, WebhookOverlap: c.overlap}
		header := http.Header{}
		header.Set("webhook-id", bursar.ID{7}.String())
		header.Set("webhook-timestamp", timestamp(now))
		header.Set("webhook-signature", signature(secretsAt(fixedSecrets{}, account, now), bursar.ID{7}.String(), now,
			[]byte("{}")))
		for i, valid := range c.valid {
			if err := oracle(t, uint32(i+1)).Verify([]byte("{}"), header); (err == nil) != valid {
				t.Errorf("%s: secret %d: %v, want %v", c.name, i+1, err, valid)
			}
		}
	}
}

type noSecrets struct{}

func (noSecrets) WebhookSecret(bursar.ID, uint32) []byte { return nil }

func TestNothingIsSignedWithoutASecret(t *testing.T) {
	t.Parallel()
	if got := secretsAt(noSecrets{}, bursar.Account{WebhookGeneration: 1}, time.Now()); got != nil {
		t.Errorf("signed with %v, want nil", got)
	}
}

func TestATestEventHasTheFieldsOfEveryEvent(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	e, err := TestEvent(bursar.ID{7}, customer, "https://r.example", at)
	if err != nil || e.ID != (bursar.ID{7}) || e.AccountID != customer || e.Kind != bursar.EventTest ||
		e.URL != "https://r.example" || e.CreatedAt != at {
		t.Errorf("made %+v, %v", e, err)
	}
	want := `{"success":true,"response":{"webhook":{"accountID":"` + customer.String() +
		`","type":"test","event":"test","eventID":"` +
		bursar.ID{7}.String() + `","createdAt":"2026-11-21T01:02:03Z"}}}`
	if string(e.Body) != want || !json.Valid(e.Body) {
		t.Errorf("the body is %s", e.Body)
	}
}
