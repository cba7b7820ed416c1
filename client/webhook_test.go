package client_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bursar/bursar/client"
)

const (
	hookSecret  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	hookBody    = `{"success":true,"response":{"webhook":{"accountID":"a","type":"wallet","event":"deposit","eventID":"e","createdAt":"2026-01-02T03:04:05Z","deposit":{"depositID":"d","amount":"0.10","confirmedAt":null}}}}`
)

var hookTime = time.Unix(1_700_000_000, 0)

// sign signs with the library of Standard Webhooks.
func sign(t testing.TB, secret string, at time.Time, body string) string {
	t.Helper()
	hook, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := hook.Sign("e", at, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func hookHeader(at time.Time, signature string) http.Header {
	h := http.Header{}
	h.Set("webhook-id", "e")
	h.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
	h.Set("webhook-signature", signature)
	return h
}

func TestVerifyWebhook(t *testing.T) {
	t.Parallel()
	right, other := sign(t, hookSecret, hookTime, hookBody), sign(t, otherSecret, hookTime, hookBody)
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(right, "v1,"))
	if err != nil {
		t.Fatal(err)
	}
	short := "v1," + base64.StdEncoding.EncodeToString(raw[:31])
	set := func(name, value string) func(http.Header) { return func(h http.Header) { h.Set(name, value) } }
	for name, c := range map[string]struct {
		change func(http.Header)
		secret string
		body   string
		now    time.Time
		want   error
	}{
		"right":                    {},
		"as late as allowed":       {now: hookTime.Add(5 * time.Minute)},
		"as early as allowed":      {now: hookTime.Add(-5 * time.Minute)},
		"too late":                 {now: hookTime.Add(5*time.Minute + time.Second), want: client.ErrWebhookTimestamp},
		"too early":                {now: hookTime.Add(-5*time.Minute - time.Second), want: client.ErrWebhookTimestamp},
		"the second of two":        {change: set("webhook-signature", other+" "+right)},
		"the first of two":         {change: set("webhook-signature", right+" "+other)},
		"among later versions":     {change: set("webhook-signature", "v2,AAAA v1a,"+right[3:]+" "+right)},
		"of another secret":        {change: set("webhook-signature", other), want: client.ErrWebhookSignature},
		"of a later version":       {change: set("webhook-signature", "v2,"+right[3:]), want: client.ErrWebhookSignature},
		"without a version":        {change: set("webhook-signature", right[3:]), want: client.ErrWebhookSignature},
		"cut off":                  {change: set("webhook-signature", short), want: client.ErrWebhookSignature},
		"empty":                    {change: set("webhook-signature", "v1,"), want: client.ErrWebhookSignature},
		"no base64":                {change: set("webhook-signature", "v1,*"), want: client.ErrWebhookSignature},
		"another body":             {body: strings.Replace(hookBody, "0.10", "9.10", 1), want: client.ErrWebhookSignature},
		"another space":            {body: hookBody + " ", want: client.ErrWebhookSignature},
		"another id":               {change: set("webhook-id", "f"), want: client.ErrWebhookSignature},
		"another time":             {change: set("webhook-timestamp", "1700000001"), want: client.ErrWebhookSignature},
		"a time spelt differently": {change: set("webhook-timestamp", "+1700000000"), want: client.ErrWebhookSignature},
		"a time before all": {change: set("webhook-timestamp", "-9223372036854775808"),
			want: client.ErrWebhookTimestamp},
		"a time after all": {change: set("webhook-timestamp", "9223372036854775807"),
			want: client.ErrWebhookTimestamp},
		"a time that is none": {change: set("webhook-timestamp", "now"), want: client.ErrWebhookHeaders},
		"no time": {change: func(h http.Header) {
			h.Del("webhook-timestamp")
		}, want: client.ErrWebhookHeaders},
		"no id": {change: func(h http.Header) { h.Del("webhook-id") }, want: client.ErrWebhookHeaders},
		"no signature": {change: func(h http.Header) {
			h.Del("webhook-signature")
		}, want: client.ErrWebhookHeaders},
		"two ids": {change: func(h http.Header) {
			h.Add("webhook-id", "e")
		}, want: client.ErrWebhookHeaders},
		"a secret without its mark":   {secret: hookSecret[6:], want: client.ErrWebhookSecret},
		"a secret that is no base64":  {secret: "whsec_*", want: client.ErrWebhookSecret},
		"a secret that holds nothing": {secret: "whsec_", want: client.ErrWebhookSecret},
		"no secret":                   {secret: "-", want: client.ErrWebhookSecret},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hookHeader(hookTime, right)
			if c.change != nil {
				c.change(h)
			}
			secret, body, now := hookSecret, hookBody, hookTime
			if c.secret != "" {
				secret = strings.TrimPrefix(c.secret, "-")
			}
			if c.body != "" {
				body = c.body
			}
			if !c.now.IsZero() {
				now = c.now
			}
			event, err := client.VerifyWebhook(secret, h, []byte(body), now)
			if !errors.Is(err, c.want) || err != nil && event != (client.Event{}) {
				t.Errorf("gives %+v, %v, want %v", event, err, c.want)
			}
			if c.want == nil && (event.EventID != "e" || event.Event != client.EventDeposit || event.Deposit == nil ||
				event.Deposit.Amount != "0.10" || event.Charge != nil) {
				t.Errorf("the event is %+v", event)
			}
		})
	}
}

func TestASignedBodyThatIsNoEvent(t *testing.T) {
	t.Parallel()
	if event, err := client.VerifyWebhook(hookSecret, hookHeader(hookTime, sign(t, hookSecret, hookTime, "[")),
		[]byte("["), hookTime); err == nil {
		t.Errorf("it is %+v, want an error", event)
	}
}

// FuzzVerifyWebhook compares VerifyWebhook with the library of Standard Webhooks: at the signed time both accept the
// same webhooks.
func FuzzVerifyWebhook(f *testing.F) {
	now := time.Now()
	stamp := strconv.FormatInt(now.Unix(), 10)
	f.Add("e", stamp, sign(f, hookSecret, now, hookBody), []byte(hookBody))
	f.Add("e", stamp, "v2,x "+sign(f, otherSecret, now, hookBody)+" "+sign(f, hookSecret, now, hookBody), []byte(hookBody))
	f.Add("", "x", "v1,", []byte(nil))
	hook, err := standard.NewWebhook(hookSecret)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, stamp, signature string, body []byte) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signature}}
		_, err := client.VerifyWebhook(hookSecret, h, body, now)
		believed := err == nil || !errors.Is(err, client.ErrWebhookHeaders) && !errors.Is(err, client.ErrWebhookTimestamp) &&
			!errors.Is(err, client.ErrWebhookSignature)
		if theirs := hook.VerifyIgnoringTimestamp(body, h) == nil; believed && !theirs {
			t.Fatalf("id %q, time %q and signature %q are believed", id, stamp, signature)
		}
	})
}
