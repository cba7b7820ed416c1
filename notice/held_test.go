package notice_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/store"
)

// quiet gives the receiver quiet hours from 01:00 to 07:00.
func (h *harness) quiet() {
	h.receiver.Quiet = &notice.Quiet{From: 60, To: 7 * 60}
}

// A message that was composed before quiet hours and not taken is not sent in them. What is grave goes before it, and
// the message follows under its ID when they end.
func TestAMessageOfBeforeWaitsForTheEndOfQuietHours(t *testing.T) {
	notified(t, func(h *harness) {
		h.quiet()
		h.clock.Advance(50 * time.Minute)
		h.box.fails = errors.New("connection refused")
		h.raise("funds_low", "BTC")
		h.after(time.Minute)
		var before store.NoticeReceiver
		h.do(func(tx *store.Tx) (err error) {
			before, err = tx.Notices().Get(ctx, "ops")
			return err
		})
		h.box.fails = nil
		h.after(30 * time.Minute)
		h.gets("in quiet hours")
		h.raise("signer_frozen", "")
		h.after(time.Minute)
		h.gets("in quiet hours, what is grave", "URGENT: alarm signer_frozen opened on bitcoin")
		h.after(4 * time.Hour)
		h.gets("still in quiet hours")
		h.after(2 * time.Hour)
		if len(h.box.taken) != 1 || before.Message == "" || h.box.taken[0].At.After(before.ComposedAt) {
			h.Errorf("after quiet hours the receiver got %+v, want the message of before, %s", h.box.taken, before.Message)
		}
		h.gets("after quiet hours", "alarm funds_low opened on bitcoin")
		h.after(time.Hour)
		h.gets("nothing more")
	})
}

// A message that is grave is repeated in quiet hours until it is taken.
func TestAGraveMessageIsRepeatedInQuietHours(t *testing.T) {
	notified(t, func(h *harness) {
		h.quiet()
		h.clock.Advance(50 * time.Minute)
		h.box.fails = errors.New("connection refused")
		h.raise("funds_low", "BTC")
		h.raise("signer_frozen", "")
		h.step()
		h.box.fails = nil
		h.after(30 * time.Minute)
		h.gets("in quiet hours", "URGENT: 2 alarms opened (signer_frozen, funds_low)")
	})
}

// Times that a clock wrote which was ahead for a while silence nobody afterwards.
func TestAClockThatWasAheadSilencesNobody(t *testing.T) {
	notified(t, func(h *harness) {
		h.notifier.Daily = 60
		year := h.clock.Now().Add(365 * 24 * time.Hour)
		h.do(func(tx *store.Tx) error {
			row, err := tx.Notices().Lock(ctx, "ops")
			row.BegunAt, row.SolvencyAt, row.ComposedAt, row.NextAt = year, year, year, year
			row.Waiting = map[string]time.Time{"proposals": year}
			if err != nil {
				return err
			}
			return tx.Notices().Put(ctx, row)
		})
		h.step()
		h.do(func(tx *store.Tx) error {
			row, err := tx.Notices().Get(ctx, "ops")
			now := h.clock.Now()
			if row.BegunAt.After(now) || row.SolvencyAt.After(now) || row.ComposedAt.After(now) || len(row.Waiting) > 0 {
				h.Errorf("the receiver is %+v, want no time after %v", row, now)
			}
			return err
		})
		h.clock.Advance(time.Second)
		h.raise("funds_low", "BTC")
		h.resolve("funds_low", "BTC")
		h.after(2 * time.Minute)
		h.gets("an alarm that closed", "alarm funds_low closed on bitcoin")
		h.after(2 * time.Hour)
		h.gets("the day's line", "solvent")
	})
}

// A clock that is a little ahead of another one is not wrong: the day's line is sent once.
func TestClocksThatDifferALittleSendOneLine(t *testing.T) {
	notified(t, func(h *harness) {
		h.notifier.Daily = 60 // 01:00
		h.after(time.Hour)
		h.gets("the first process", "solvent")
		h.clock.Advance(-2 * time.Second)
		h.step()
		h.after(time.Hour)
		h.gets("a process whose clock is behind")
	})
}
