package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestAnEventIsTakenOnceAndOnlyIfItIsTrue(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	at := time.Unix(1_700_000_000, 0)
	handler := newReceiver(secret, func() time.Time { return at }, slog.New(slog.NewTextHandler(&log, nil)))
	send := func(body, signature string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/hooks/bursar", strings.NewReader(body))
		r.Header.Set("webhook-id", "one")
		r.Header.Set("webhook-timestamp", "1700000000")
		r.Header.Set("webhook-signature", signature)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	key, err := base64.StdEncoding.DecodeString(secret[6:])
	if err != nil {
		t.Fatal(err)
	}
	sign := func(body string) string {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("one.1700000000." + body))
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	event := func(kind, rest string) string {
		return `{"success":true,"response":{"webhook":{"eventID":"` + kind + `","event":"` + kind + `"` + rest + `}}}`
	}
	deposit := event("deposit", `,"deposit":{"amount":"0.10","currency":"BTC"}`)
	for _, c := range []struct {
		body, signature string
		want            int
		logged          string
		times           int
	}{
		{deposit, sign("x"), 400, "webhook refused", 1},
		{strings.Repeat(" ", maxBody+1), "v1,x", 400, "webhook refused", 1},
		{deposit, sign(deposit), 204, "deposit credited", 1},
		{deposit, sign(deposit), 204, "deposit credited", 1},
		{event("deposit_reversed", `,"deposit":{}`), "", 204, "deposit reversed", 1},
		{event("paid", `,"deposit":{},"charge":{"amount":"1"}`), "", 204, "charge paid", 1},
		{event("new", ""), "", 204, "event left", 1},
	} {
		if c.signature == "" {
			c.signature = sign(c.body)
		}
		if got := send(c.body, c.signature); got != c.want || strings.Count(log.String(), c.logged) != c.times {
			t.Errorf("%.80s: %d, want %d\n%s", c.body, got, c.want, &log)
		}
	}
}

func TestItNeedsASecret(t *testing.T) {
	t.Parallel()
	if err := run("", ""); err == nil || !strings.Contains(err.Error(), "BURSAR_WEBHOOK_SECRET") {
		t.Errorf("without a secret: %v", err)
	}
}
