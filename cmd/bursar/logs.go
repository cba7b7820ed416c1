package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/store"
)

type logsCommands struct {
	Tail logsTailCommand `cmd:"" help:"Print what was asked of the API, and follow it."`
}

type logsTailCommand struct {
	remote
	Account bursar.ID `type:"account" placeholder:"ACCOUNT" help:"Only requests of this account: its ID or name. A profile has those of its own account."`
	Status  string    `placeholder:"STATUS" help:"Only requests that were answered with this status, such as 422, or with one of a class, such as 4xx."`
	Path    string    `placeholder:"PATH" help:"Only requests of this endpoint, such as account/withdraw."`
	Request string    `placeholder:"ID" help:"Only the request with this X-Request-ID."`
	Limit   int       `default:"20" help:"How many requests that were made before are printed, 0 to 1000."`
	Once    bool      `help:"Print what is in the log and end, in place of going on with requests as they come."`
	JSON    bool      `name:"json" help:"Print each request as one line of JSON."`
}

// Help returns whose requests are shown, and an example.
func (logsTailCommand) Help() string {
	return "Reads the database of the configuration, with the requests of all accounts. With --api or --profile it asks " +
		"the service for those of the key's account. The log has neither parameters nor headers, nor from where a request " +
		"came. It is written every second and kept for as long as request_log says. \"left out\" counts requests that are " +
		"not in it.\n\nExample:\n\n    bursar logs tail --account shop --status 4xx\n    bursar logs tail --profile test"
}

// logPace is how often new requests are looked for, logLate how much later than a newer one a request may appear: each
// replica writes its own, every second.
const (
	logPace = time.Second
	logLate = 10 * time.Second
	logOnce = 200 // requests that are read at once
)

// logged is a request as the command prints it.
type logged struct {
	RequestID string     `json:"requestID"`
	At        time.Time  `json:"at"`
	AccountID *bursar.ID `json:"accountID,omitempty"`
	KeyID     string     `json:"keyID,omitempty"`
	Method    string     `json:"method"`
	Path      string     `json:"path"`
	Status    int64      `json:"status"`
	Code      string     `json:"code"`
	Millis    int64      `json:"milliseconds"`
	LeftOut   int64      `json:"leftOut"`
}

// logPage reads some requests, newest first; cursor is "" at first, and next "" at the end.
type logPage func(ctx context.Context, cursor string, limit int) (list []logged, next string, err error)

// Run prints requests.
func (cmd *logsTailCommand) Run(ctx context.Context, c *call) error {
	if cmd.Limit < 0 || cmd.Limit > 1000 {
		return wrong("--limit must be between 0 and 1000")
	}
	read, closed, err := cmd.source(ctx, c)
	if err != nil {
		return err
	}
	defer closed()
	t := &logTail{read: read, seen: map[string]time.Time{}}
	list, err := t.first(ctx, cmd.Limit)
	if err != nil {
		return err
	}
	for {
		for _, l := range list {
			if err := cmd.print(c, l); err != nil {
				return err
			}
		}
		if cmd.Once {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(logPace):
		}
		list, err = t.more(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case lasting(err):
			return err
		case err != nil:
			c.Note("no answer yet, trying again: %v", err)
		}
	}
}

// source is the database, or a service that a key is of.
func (cmd *logsTailCommand) source(ctx context.Context, c *call) (read logPage, closed func(), err error) {
	var f store.RequestFilter
	if cmd.Status != "" && !f.OfStatus(cmd.Status) {
		return nil, nil, wrong("--status %q is neither a status such as 422 nor a class of them such as 4xx", cmd.Status)
	}
	if cmd.Request != "" {
		if f.ID, err = bursar.ParseID(cmd.Request); err != nil {
			return nil, nil, wrong("--request %.60q is not the ID of a request", cmd.Request)
		}
	}
	if cmd.named() {
		if !cmd.Account.IsZero() {
			return nil, nil, wrong("a service shows the requests of the key's own account: leave out --account")
		}
		service, err := cmd.dial(c)
		if err != nil {
			return nil, nil, err
		}
		return cmd.asked(service), func() {}, nil
	}
	if f.Account = cmd.Account; cmd.Path != "" {
		f.Path = "/api/v1/" + strings.Trim(strings.TrimPrefix(cmd.Path, "/api/v1/"), "/")
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return nil, nil, orAsk(c, err)
	}
	if cfg.RequestLog == 0 {
		c.Note("request_log is off: nothing is logged.")
	}
	return logOf(db, f), func() { db.Close() }, nil
}

// logOf reads the log in a database.
func logOf(db *store.DB, f store.RequestFilter) logPage {
	return func(ctx context.Context, cursor string, limit int) (list []logged, next string, err error) {
		page := store.Page{Limit: limit}
		if _, err := fmt.Sscan(cursor, &page.Before); cursor != "" && err != nil {
			return nil, "", err
		}
		err = db.View(ctx, func(tx *store.Tx) error {
			found, err := tx.RequestLog().List(ctx, f, page)
			for _, r := range found {
				list = append(list, logged{r.ID.String(), r.At, optional(r.Account), keyText(r.Key), r.Method, r.Path, r.Status,
					string(r.Code), r.Took.Milliseconds(), r.LeftOut})
				next = fmt.Sprint(r.Number)
			}
			return err
		})
		if len(list) < limit {
			next = ""
		}
		return list, next, err
	}
}

func keyText(id bursar.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// asked reads the log of an account at its service.
func (cmd *logsTailCommand) asked(service *client.Client) logPage {
	all := service.Requests(client.RequestFilter{Status: cmd.Status, Path: cmd.Path, RequestID: cmd.Request})
	return func(ctx context.Context, cursor string, limit int) (list []logged, next string, err error) {
		page, err := all(ctx, client.Page{Limit: limit, Cursor: cursor})
		for _, r := range page.Items {
			list = append(list, logged{r.RequestID, r.At, nil, r.KeyID, r.Method, r.Path, int64(r.Status), string(r.Code),
				r.Milliseconds, r.LeftOut})
		}
		return list, page.NextCursor, err
	}
}

// logTail knows which requests were printed.
type logTail struct {
	read  logPage
	seen  map[string]time.Time // by ID, those that may be read again
	floor time.Time            // no request from before it is new
}

// first returns the newest requests, the oldest of them first.
func (t *logTail) first(ctx context.Context, limit int) ([]logged, error) {
	list, _, err := t.read(ctx, "", max(limit, 1))
	t.take(list)
	if len(list) > 0 { // what is older was not asked for
		t.floor = later(t.floor, list[len(list)-1].At)
	}
	list = list[:min(len(list), limit)]
	slices.Reverse(list)
	return list, err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// more returns requests that have appeared since, the oldest first.
func (t *logTail) more(ctx context.Context) (list []logged, err error) {
	for cursor := ""; ; {
		page, next, err := t.read(ctx, cursor, logOnce)
		if err != nil {
			return nil, err
		}
		for _, l := range page {
			if _, known := t.seen[l.RequestID]; !known && !l.At.Before(t.floor) {
				list = append(list, l)
			}
		}
		if next == "" || page[len(page)-1].At.Before(t.floor) {
			break
		}
		cursor = next
	}
	t.take(list)
	slices.SortStableFunc(list, func(a, b logged) int { return a.At.Compare(b.At) })
	return list, nil
}

// take remembers requests for as long as others from their time may appear.
func (t *logTail) take(list []logged) {
	for _, l := range list {
		t.seen[l.RequestID] = l.At
		t.floor = later(t.floor, l.At.Add(-logLate))
	}
	for id, at := range t.seen {
		if at.Before(t.floor) {
			delete(t.seen, id)
		}
	}
}

// print prints one request.
func (cmd *logsTailCommand) print(c *call, l logged) error {
	if cmd.JSON {
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		return c.Say("%s", line)
	}
	path, whose, left := strings.TrimPrefix(l.Path, "/api/v1/"), "", ""
	if path == "" {
		path = "-" // there is no endpoint
	}
	if l.AccountID != nil {
		whose = " account " + l.AccountID.String()
	}
	if l.LeftOut > 0 {
		left = fmt.Sprintf(" left out %d", l.LeftOut)
	}
	return c.Say("%s  %d %-4s %-28s %5d ms  %s%s %s%s", moment(l.At), l.Status, l.Method, path, l.Millis, l.RequestID,
		whose, l.Code, left)
}
