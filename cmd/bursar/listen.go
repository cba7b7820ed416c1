package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/bursar/bursar/client"
)

// forwardTime is how long a receiver may take to answer.
const forwardTime = 30 * time.Second

type listenCommand struct {
	remote
	ForwardTo string        `placeholder:"URL" help:"Send each event there by POST, as a webhook is sent."`
	Event     []string      `aliases:"events" placeholder:"NAME" help:"Only these events, such as paid, deposit or withdrawal."`
	Since     time.Duration `xor:"from" placeholder:"TIME" help:"Start with the events of the last TIME, such as 1h."`
	After     string        `xor:"from" placeholder:"ID" help:"Begin behind this event, or at this position; oldest: at the oldest. Default: with what comes from now on."`
	Print     bool          `name:"print-secret" help:"Print the secret of the webhooks that are forwarded, and end."`
	JSON      bool          `name:"json" help:"Print each event as one line of JSON."`

	from time.Time // earlier events are passed over; zero: none are
}

// Help returns what happens, and an example.
func (listenCommand) Help() string {
	return "Events are read from the account's feed, so none is lost while the connection is broken, and no receiver " +
		"has to be reachable from the service. What somebody sends again is forwarded again, of the newest 100 events, " +
		"within seconds. Forwarded ones are signed with BURSAR_WEBHOOK_SECRET, or with a secret that follows from the " +
		"API key: it is the same in every run, and not the one with which the service signs.\n\n" +
		"Example:\n\n    BURSAR_API_KEY=bk_… bursar listen --print-secret\n" +
		"    BURSAR_API_KEY=bk_… bursar listen --forward-to http://localhost:3000/hook"
}

// Run prints and forwards events until it is interrupted.
func (cmd *listenCommand) Run(ctx context.Context, c *call) error {
	if cmd.Print {
		secret, err := cmd.secret(c)
		if err != nil {
			return err
		}
		return c.Say("%s", secret)
	}
	service, err := cmd.dial(c)
	if err != nil {
		return err
	}
	f, err := cmd.forwarder(c)
	if err != nil {
		return err
	}
	if cmd.ForwardTo != "" {
		c.Note("Events are forwarded to %s. Ctrl-C ends.", cmd.ForwardTo)
	}
	q := client.FeedQuery{After: cmd.After, Wait: 20 * time.Second}
	var again redeliveries
	if f != nil {
		q.Wait = againEvery
	}
	switch {
	case cmd.Since > 0:
		cmd.from, q.After = time.Now().Add(-cmd.Since), ""
	case cmd.Since < 0:
		return wrong("--since must be a time such as 1h")
	case cmd.After == "":
		q.After = client.NewestEvents
	case cmd.After == "oldest":
		q.After = ""
	}
	for {
		page, err := service.Events(ctx, q)
		switch {
		case ctx.Err() != nil:
			return nil
		case lasting(err):
			return err
		case err != nil: // Events has tried several times, with waits between them
			c.Note("no answer yet, trying again: %v", err)
			continue
		}
		for _, e := range page.Events {
			if err := cmd.take(ctx, c, f, e); err != nil {
				return err
			}
		}
		q.After = page.Next
		if f == nil {
			continue
		}
		if err := cmd.forwardAgain(ctx, c, service, f, &again); err != nil {
			return err
		}
	}
}

// lasting reports whether an error is the service's refusal, which another attempt would get again.
func lasting(err error) bool {
	var refusal *client.Error
	return errors.As(err, &refusal) && refusal.Status < 500 && refusal.Status != http.StatusTooManyRequests
}

// take prints an event and forwards it. What the receiver answers is shown and changes nothing: the feed goes on.
func (cmd *listenCommand) take(ctx context.Context, c *call, f *forwarder, e client.Event) error {
	if e.CreatedAt.Before(cmd.from) {
		return nil
	}
	return cmd.pass(ctx, c, f, e)
}

// pass is take, whatever the event's time is.
func (cmd *listenCommand) pass(ctx context.Context, c *call, f *forwarder, e client.Event) error {
	if len(cmd.Event) > 0 && !slices.Contains(cmd.Event, e.Event) {
		return nil
	}
	answer := ""
	if f != nil {
		answer = f.send(ctx, e)
	}
	if cmd.JSON {
		line, err := json.Marshal(struct {
			Event  json.RawMessage `json:"event"`
			Answer string          `json:"answer,omitempty"`
		}{json.RawMessage(e.Raw), answer})
		if err != nil {
			return err
		}
		return c.Say("%s", line)
	}
	return c.Say("%s  %-18s %-10s %s  %s", e.CreatedAt.UTC().Format(time.RFC3339), e.Event, e.Type, e.EventID, answer)
}

// forwarder sends events as webhooks are sent.
type forwarder struct {
	to   string
	sign *standard.Webhook
	http *http.Client
}

// forwarder returns nil where nothing is forwarded.
func (cmd *listenCommand) forwarder(c *call) (*forwarder, error) {
	if cmd.ForwardTo == "" {
		return nil, nil
	}
	u, err := url.Parse(cmd.ForwardTo)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usage(errors.New("--forward-to must be an http or https URL"))
	}
	secret, err := cmd.secret(c)
	if err != nil {
		return nil, err
	}
	sign, err := standard.NewWebhook(secret)
	if err != nil {
		return nil, err
	}
	if c.Getenv(webhookSecret) == "" {
		c.Note("The webhooks that are forwarded are signed with the secret of `bursar listen --print-secret`.")
	}
	return &forwarder{to: cmd.ForwardTo, sign: sign, http: &http.Client{
		Timeout:       forwardTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// webhookSecret is the variable with the secret of what is forwarded.
const webhookSecret = "BURSAR_WEBHOOK_SECRET" //nolint:gosec // a name, not a secret

// secret is the one with which webhooks are forwarded. Without one in the environment it follows from the API key, so
// that a receiver is configured once. Nobody learns the key from it, nor the secret with which the service signs.
func (cmd *listenCommand) secret(c *call) (string, error) {
	secret := c.Getenv(webhookSecret)
	if secret == "" {
		at, err := cmd.target(c)
		if err != nil {
			return "", usage(err)
		}
		code := hmac.New(sha256.New, []byte(at.Key))
		code.Write([]byte("bursar listen: the secret of forwarded webhooks"))
		secret = "whsec_" + base64.StdEncoding.EncodeToString(code.Sum(nil))
	}
	if _, err := standard.NewWebhook(secret); err != nil || !strings.HasPrefix(secret, "whsec_") {
		return "", usage(errors.New(webhookSecret + " is not whsec_ and base64"))
	}
	return secret, nil
}

// send sends an event and says what was answered.
func (f *forwarder) send(ctx context.Context, e client.Event) string {
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"success":true,"response":{"webhook":%s}}`, e.Raw)
	at := time.Now()
	signature, err := f.sign.Sign(e.EventID, at, body.Bytes())
	if err != nil {
		return "not signed: " + err.Error()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.to, &body)
	if err != nil {
		return "not sent: " + err.Error()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("webhook-id", e.EventID)
	r.Header.Set("webhook-timestamp", fmt.Sprint(at.Unix()))
	r.Header.Set("webhook-signature", signature)
	answer, err := f.http.Do(r)
	if err != nil {
		return "not answered: " + err.Error()
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 1<<16) // what a receiver says does not matter
	return answer.Status
}
