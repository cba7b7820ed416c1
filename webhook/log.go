package webhook

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar/store"
)

// logAttempt logs a recorded attempt under the ID of the event's subject; docs/operations.md explains the lines.
func (d *Deliverer) logAttempt(r result) {
	if !d.log.Enabled(context.Background(), slog.LevelInfo) && r.Status == store.DeliveryDelivered {
		return
	}
	attrs := []any{r.of.SubjectKey(), r.of.Subject, "event", r.of.ID, "kind", r.of.Kind, "account", r.of.AccountID,
		"attempt",
		r.Number,
		"code", r.Code, "took", r.Duration}
	level, message := slog.LevelWarn, "webhook failed"
	switch r.Status {
	case store.DeliveryDelivered:
		level, message = slog.LevelInfo, "webhook delivered"
	case store.DeliveryDisabled:
		message = "webhook endpoint gone"
	case store.DeliveryFailed:
		message = "webhook given up"
	default:
		attrs = append(attrs, "again", r.NextAt)
	}
	if r.Error != "" {
		attrs = append(attrs, "error", r.Error)
	}
	d.log.Log(context.Background(), level, message, attrs...)
}
