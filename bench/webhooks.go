package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	attemptsOfOneReceiver = 32   // requests at once that the service makes to one receiver at most
	hangingEvents         = 1000 // that are due for a receiver that hangs
	deliveryTarget        = "≥ 0.8"
)

// webhookEvents is how many events the healthy receiver gets, and how many are due for the dead one.
func (b *bench) webhookEvents() (healthy, dead int) {
	if b.quick {
		return 20_000, 50_000
	}
	return 30_000, 1_000_000
}

// webhookSteps measure deliveries alone, beside a receiver that hangs and beside one that is dead, each after a bare
// POST loop of the same run.
func (s *site) webhookSteps() []step {
	healthy, dead := s.webhookEvents()
	takes := time.Duration(healthy) * time.Second / 1500
	return []step{
		{"webhooks to one healthy receiver", takes, func(ctx context.Context) error {
			return errors.Join(s.deliveries(ctx, "to one healthy receiver"), s.forget(ctx, s.receiver.url))
		}},
		{"webhooks beside a receiver that hangs", takes, s.besideHanging},
		{"webhooks beside a dead receiver", takes + time.Duration(dead)*25*time.Microsecond, s.besideDead},
	}
}

// besideHanging makes events due for a receiver that never answers, and measures when its queue is full.
func (s *site) besideHanging(ctx context.Context) error {
	url, closing, err := hanging(ctx)
	if err != nil {
		return err
	}
	defer closing()
	if err := s.filler().events(ctx, spaceHanging, s.account.AccountID, url, hangingEvents); err != nil {
		return err
	}
	err = s.deliveries(ctx, fmt.Sprintf("beside a receiver that hangs, with %s events due", number(hangingEvents)))
	return errors.Join(err, s.forget(ctx, s.receiver.url, url))
}

// besideDead makes many events due, before the service starts, for a receiver where nothing listens.
func (s *site) besideDead(ctx context.Context) error {
	_, dead := s.webhookEvents()
	address, err := freePort(ctx)
	if err != nil {
		return err
	}
	url := "http://" + address + "/hook"
	s.halt()
	progress("%s: making %s events of a dead receiver", s.kind, number(float64(dead)))
	if err := s.filler().events(ctx, spaceDead, s.account.AccountID, url, dead); err != nil {
		return err
	}
	if err := s.serve(ctx); err != nil {
		return err
	}
	err = s.deliveries(ctx, fmt.Sprintf("beside a dead receiver, with %s events due", number(float64(dead))))
	return errors.Join(err, s.forget(ctx, s.receiver.url, url))
}

// deliveries makes events due at once and measures until the receiver has them all, beside the reference's POST loop.
func (s *site) deliveries(ctx context.Context, name string) error {
	if err := s.warm(ctx); err != nil {
		return err
	}
	count, _ := s.webhookEvents()
	start, err := s.used()
	if err != nil {
		return err
	}
	bare, err := s.barePosts(ctx, count)
	if err != nil {
		return err
	}
	posted, err := s.used()
	if err != nil {
		return err
	}
	loop := posted.since(start)
	done := s.receiver.expect(count)
	if err := s.filler().events(ctx, spaceHealthy, s.account.AccountID, s.receiver.url, count); err != nil {
		return err
	}
	due := time.Now()
	if posted, err = s.used(); err != nil {
		return err
	}
	var got int
	if err := s.profiled(ctx, "webhooks "+name, func() (err error) {
		got, err = s.receiver.await(ctx, done, 3*time.Minute)
		return err
	}); err != nil {
		return err
	}
	if got < count {
		s.part(partWebhooks).figure(figure{Database: s.kind, Name: name + ": delivered within 3 minutes, of " +
			number(float64(count)), Unit: "events", Value: float64(got)})
	}
	if got < 2 {
		return nil
	}
	first, last, _ := s.receiver.got()
	s.delivered(name, float64(got-1)/last.Sub(first).Seconds(), bare, first.Sub(due))
	if got < count {
		return nil
	}
	sent, err := s.used()
	s.processorTimes(name, sent.since(posted), loop, count)
	return err
}

func (s *site) delivered(name string, rate, bare float64, waited time.Duration) {
	f := figure{Database: s.kind, Name: name, Unit: "deliveries/s", Value: rate}.beside("bare POST loop", bare)
	f.Target = deliveryTarget
	s.part(partWebhooks).figure(f)
	s.part(partWebhooks).time(s.kind, name+": from the commit of the events to the first request", max(waited, 0), 0)
}

// barePosts has the reference post to the receiver, and returns the requests per second.
func (s *site) barePosts(ctx context.Context, count int) (float64, error) {
	done := s.receiver.expect(count)
	query := url.Values{"url": {s.receiver.url}, "count": {strconv.Itoa(count)}}
	err := exchange(ctx, http.MethodPost, "http://"+s.reference+"/deliver?"+query.Encode(),
		http.Header{"X-Api-Key": {referenceKey}}, map[string]string{}, &struct{}{})
	if err != nil {
		return 0, fmt.Errorf("the bare POST loop: %w", err)
	}
	<-done
	first, last, _ := s.receiver.got()
	return float64(count-1) / last.Sub(first).Seconds(), nil
}

// forget removes the events of receivers, so that the next measurement begins without them. The service is stopped for
// it, because it may still be about to record attempts.
func (s *site) forget(ctx context.Context, urls ...string) error {
	s.halt()
	for _, url := range urls {
		if err := s.filler().forgetEvents(ctx, url); err != nil {
			return err
		}
	}
	return s.serve(ctx)
}

// deliver is the reference's POST loop: a number of requests with a body as long as an event's, as many at once as the
// service makes to one receiver.
func deliver(ctx context.Context, url string, count int) error {
	transport := &http.Transport{MaxIdleConnsPerHost: attemptsOfOneReceiver}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	body := eventBody("bench")
	numbers := make(chan int, count)
	for i := range count {
		numbers <- i
	}
	close(numbers)
	errs := make(chan error, attemptsOfOneReceiver)
	for range attemptsOfOneReceiver {
		go func() { errs <- deliverAll(ctx, client, url, body, numbers) }()
	}
	var all error
	for range attemptsOfOneReceiver {
		all = errors.Join(all, <-errs)
	}
	return all
}

func deliverAll(ctx context.Context, client *http.Client, url, body string, numbers <-chan int) error {
	for range numbers {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
	return nil
}

// eventBody is about as long as the event of a deposit.
func eventBody(subject string) string {
	text, err := json.Marshal(map[string]any{"success": true, "response": map[string]any{"webhook": map[string]any{
		"event":     "deposit",
		"depositID": subject,
		"currency":  "BTC",
		"amount":    "0.00200000",
		"fee":       "0.00000000",
		"hashID":    "00000000000000000000000000000000000000000000000000000000000000aa",
		"address":   "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080",
		"metadata":  "order 1",
	}}})
	if err != nil {
		panic(err) // of texts only
	}
	return string(text)
}
