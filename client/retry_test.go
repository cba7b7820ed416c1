package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/client"
)

// line is a service with prepared responses. It keeps the requests.
type line struct {
	answers []func() (*http.Response, error)
	asked   []asked
}

type asked struct {
	at     time.Time
	header http.Header
	url    string
	body   string
}

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(text)
	}
	l.asked = append(l.asked, asked{time.Now(), r.Header.Clone(), r.URL.String(), body})
	if len(l.answers) == 0 {
		return nil, errors.New("no response")
	}
	next := l.answers[0]
	l.answers = l.answers[1:]
	response, err := next()
	if response != nil {
		response.Request = r
	}
	return response, err
}

const wallet = `{"success":true,"response":{"wallet":{"walletID":"w","future":{"a":1}}}}`

// gives is a response with a status, a body and headers "Name: value".
func gives(status int, body string, headers ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		h := http.Header{}
		for _, text := range headers {
			name, value, _ := strings.Cut(text, ": ")
			h.Set(name, value)
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func refuses(status int, code string, headers ...string) func() (*http.Response, error) {
	return gives(status, fmt.Sprintf(`{"success":false,"error":{"code":%q,"message":"no","field":"f"},"requestID":"r"}`,
		code), append(headers, "X-Request-ID: r")...)
}

func breaks() (*http.Response, error) { return nil, errors.New("connection reset") }

// half is a response that breaks off.
func half() (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{},
		Body: io.NopCloser(io.MultiReader(strings.NewReader(wallet[:20]), broken{}))}, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (l *line) client(t *testing.T, change ...func(*client.Config)) *client.Client {
	t.Helper()
	config := client.Config{BaseURL: "https://pay.example", Key: "bk_hidden", Secret: "bs_hidden",
		HTTP: &http.Client{Transport: l}}
	for _, c := range change {
		c(&config)
	}
	made, err := client.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestTransientFailuresAreRetried(t *testing.T) {
	type answer = func() (*http.Response, error)
	for name, c := range map[string]struct {
		answers     []answer
		least, most time.Duration
		attempts    int
		code        client.Code // of the error; "-" for one that has none
	}{
		"at once": {[]answer{gives(200, wallet)}, 0, 0, 1, ""},
		"after a limit": {[]answer{refuses(429, "rate_limited", "Retry-After: 7"), gives(200, wallet)},
			7 * time.Second, 7 * time.Second, 2, ""},
		"after a limit by date": {[]answer{refuses(429, "rate_limited", "Retry-After: Fri, 02 Jan 2026 03:04:09 GMT",
			"Date: Fri, 02 Jan 2026 03:04:05 GMT"), gives(200, wallet)}, 4 * time.Second, 4 * time.Second, 2, ""},
		"after a limit with no time": {[]answer{refuses(429, "rate_limited", "Retry-After: soon"), gives(200, wallet)},
			125 * time.Millisecond, 250 * time.Millisecond, 2, ""},
		"after the service was away": {[]answer{refuses(503, "unavailable", "Retry-After: 5"),
			refuses(503, "unavailable", "Retry-After: 1"), gives(200, wallet)}, 6 * time.Second, 6 * time.Second, 3, ""},
		"after gateways gave up": {[]answer{gives(502, "<html>"), gives(504, ""), gives(200, wallet)},
			375 * time.Millisecond, 750 * time.Millisecond, 3, ""},
		"after connections broke": {[]answer{breaks, half, breaks, gives(200, wallet)}, 875 * time.Millisecond,
			1750 * time.Millisecond, 4, ""},
		"until the attempts are over": {[]answer{breaks, breaks, breaks, refuses(503, "unavailable"), gives(200, wallet)},
			875 * time.Millisecond, 1750 * time.Millisecond, 4, "unavailable"},
		"not when it takes too long": {[]answer{refuses(429, "rate_limited", "Retry-After: 31"), gives(200, wallet)}, 0, 0,
			1, "rate_limited"},
		"not after a mistake": {[]answer{refuses(400, "invalid_request"), gives(200, wallet)}, 0, 0, 1,
			"invalid_request"},
		"not after a conflict": {[]answer{refuses(409, "idempotency_conflict"), gives(200, wallet)}, 0, 0, 1,
			"idempotency_conflict"},
		"not after a refusal": {[]answer{refuses(422, "below_minimum"), gives(200, wallet)}, 0, 0, 1,
			"below_minimum"},
		"not after a fault of theirs": {[]answer{refuses(500, "internal"), gives(200, wallet)}, 0, 0, 1, "internal"},
		"not after nonsense":          {[]answer{gives(200, "<html>"), gives(200, wallet)}, 0, 0, 1, "-"},
		"not after half the truth":    {[]answer{gives(200, `{"success":true}`), gives(200, wallet)}, 0, 0, 1, "-"},
		"not after a contradiction": {[]answer{gives(200, `{"success":false,"response":{}}`), gives(200, wallet)}, 0, 0,
			1, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for _, change := range []bool{false, true} {
					l := &line{answers: append([]answer{}, c.answers...)}
					start := time.Now()
					got, err := l.try(t, change)
					took := time.Since(start)
					if took < c.least || took > c.most || len(l.asked) != c.attempts {
						t.Errorf("%d attempts within %v, want at least %v and at most %v and %v of them", len(l.asked), took, c.least,
							c.most, c.attempts)
					}
					if (err == nil) != (c.code == "") || err == nil && got != "w" || c.code != "-" && client.CodeOf(err) != c.code {
						t.Errorf("gives %q, %v", got, err)
					}
					l.same(t, change)
				}
			})
		})
	}
}

// try reads a wallet or makes one.
func (l *line) try(t *testing.T, change bool) (string, error) {
	c := l.client(t)
	if change {
		made, err := c.CreateWallet(t.Context(), client.NewWallet{Currency: "BTC", Webhook: "https://shop.example"})
		return made.WalletID, err
	}
	got, err := c.Wallet(t.Context(), "a&b")
	return got.WalletID, err
}

// same requires every attempt to be the same request, under one key of its own where it was a change.
func (l *line) same(t *testing.T, change bool) {
	t.Helper()
	first := l.asked[0]
	key := first.header.Get("Idempotency-Key")
	if (key != "") != change || first.header.Get("X-API-KEY") != "bk_hidden" || first.header.Get("X-API-SECRET") != "" {
		t.Errorf("asked with %v, want %v and %q and %q", first.header, change, "bk_hidden", "")
	}
	if !change && first.url != "https://pay.example/api/v1/wallet?walletID=a%26b" ||
		change && first.body != `{"currency":"BTC","metadata":"","webhook":"https://shop.example"}` {
		t.Errorf("asked %s %s", first.url, first.body)
	}
	for _, a := range l.asked {
		if a.header.Get("Idempotency-Key") != key || a.url != first.url || a.body != first.body {
			t.Errorf("asked %+v, first %+v, want %v and %v and %v", a, first, key, first.url, first.body)
		}
	}
}

func TestCallsHaveKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	l := &line{}
	c := l.client(t, func(c *client.Config) { c.Attempts = 1 })
	for range 100 {
		_, _ = c.CreateWallet(t.Context(), client.NewWallet{})
	}
	_, _ = c.CreateWallet(t.Context(), client.NewWallet{IdempotencyKey: "mine"})
	for _, a := range l.asked {
		seen[a.header.Get("Idempotency-Key")] = true
	}
	if len(seen) != 101 || !seen["mine"] || seen[""] {
		t.Errorf("the keys are %v", seen)
	}
}

func TestTheCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &line{answers: []func() (*http.Response, error){refuses(503, "unavailable", "Retry-After: 20"),
			gives(200, wallet)}}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		_, err := l.client(t).Wallet(ctx, "w")
		if took := time.Since(start); took != 3*time.Second || len(l.asked) != 1 {
			t.Errorf("ended after %v and %d attempts, want %v and 1 of them", took, len(l.asked), 3*time.Second)
		}
		if !errors.Is(err, context.DeadlineExceeded) || client.CodeOf(err) != client.Unavailable {
			t.Errorf("ended with %v, want %v and %v", err, context.DeadlineExceeded, client.Unavailable)
		}
	})
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	l := &line{answers: []func() (*http.Response, error){gives(307, "", "Location: https://thief.example/"),
		gives(200, wallet)}}
	_, err := l.client(t).Wallet(t.Context(), "w")
	var refusal *client.Error
	if !errors.As(err, &refusal) || refusal.Status != 307 || len(l.asked) != 1 {
		t.Errorf("%d attempts, %v", len(l.asked), err)
	}
}

func TestErrorsCarryTheServicesMessage(t *testing.T) {
	t.Parallel()
	l := &line{answers: []func() (*http.Response, error){refuses(422, "below_minimum")}}
	_, err := l.client(t).Withdraw(t.Context(), client.NewWithdrawal{})
	want := "bursar: POST account/withdraw: status 422, below_minimum (f): no"
	var refusal *client.Error
	if !errors.As(err, &refusal) || err.Error() != want ||
		*refusal != (client.Error{Status: 422, Code: client.BelowMinimum, Field: "f", Message: "no", RequestID: "r"}) {
		t.Errorf("it says %v, %+v", err, refusal)
	}
	if l.asked[0].header.Get("X-API-SECRET") != "bs_hidden" {
		t.Error("a withdrawal goes without the secret")
	}
	if client.CodeOf(nil) != "" || client.CodeOf(io.EOF) != "" {
		t.Error("what is no answer has a code")
	}
}
