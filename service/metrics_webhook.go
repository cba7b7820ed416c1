package service

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/webhook"
)

// Metrics of this process's deliverer. The number of waiting deliveries is in the database and exported by every
// replica, as bursar_queue_waiting and bursar_queue_oldest_seconds of the queue "deliveries". No label names a receiver
// or an account.
var (
	webhookAttempts = newCounter("webhook_attempts", "Attempts to deliver an event since the start, by result.",
		"outcome")
	webhookSeconds = newHistogram("webhook_attempt_seconds", "Duration of attempts to deliver an event.")
	webhookSending = newGauge("webhook_sending", "Attempts in progress.")
	webhookHeld    = newGauge("webhook_held", "Events that this process has leased and not yet recorded.")
	webhookShut    = newGauge("webhook_receivers_shut",
		"Receivers that do not answer, or are not to be reached, and are not called for a while.")
	webhookLag = newGauge("webhook_lag_seconds", "How long the next due event has waited to be leased.")
)

func (m metrics) deliverer(out chan<- prometheus.Metric) {
	s := m.service.Deliverer.Stats()
	for _, outcome := range webhook.Outcomes() {
		webhookAttempts.set(out, float64(s.Attempts[outcome]), string(outcome))
	}
	out <- prometheus.MustNewConstHistogram(webhookSeconds.Desc, s.Seconds.Count, s.Seconds.Sum, s.Seconds.Within)
	webhookSending.set(out, float64(s.Sending))
	webhookHeld.set(out, float64(s.Held))
	webhookShut.set(out, float64(s.Shut))
}

// lag exports whether events are leased when they are due; deliveries that wait for a later attempt do not count.
func (m metrics) lag(ctx context.Context, tx *store.Tx, out chan<- prometheus.Metric) error {
	next, waits, err := tx.Deliveries().NextDue(ctx)
	if err != nil {
		return err
	}
	late := 0.0
	if waits {
		late = max(0, tx.Now().Sub(next).Seconds())
	}
	webhookLag.set(out, late)
	return nil
}
