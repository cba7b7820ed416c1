package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// testBody is the body of a test event: the fields that every event has, and no subject.
type testBody struct {
	Success  bool `json:"success"`
	Response struct {
		Webhook testWebhook `json:"webhook"`
	} `json:"response"`
}

type testWebhook struct {
	AccountID bursar.ID        `json:"accountID"`
	Type      string           `json:"type"`
	Event     bursar.EventKind `json:"event"`
	EventID   bursar.ID        `json:"eventID"`
	CreatedAt time.Time        `json:"createdAt"`
}

// TestEvent returns an event with which an account can test its receiver. Once recorded, it is signed and sent like any
// other, but with a few attempts only. Its type and its event differ from those of every other event, and it has no
// deposit.
func TestEvent(id, account bursar.ID, url string, now time.Time) (bursar.Event, error) {
	body := testBody{Success: true}
	body.Response.Webhook = testWebhook{
		AccountID: account,
		Type:      "test",
		Event:     bursar.EventTest,
		EventID:   id,
		CreatedAt: now.UTC(),
	}
	text, err := json.Marshal(body)
	if err != nil {
		return bursar.Event{}, fmt.Errorf("write the body of event %s: %w", id, err)
	}
	return bursar.Event{
		ID:        id,
		AccountID: account,
		Kind:      bursar.EventTest,
		Subject:   account,
		URL:       url,
		Body:      text,
		CreatedAt: now,
	}, nil
}
