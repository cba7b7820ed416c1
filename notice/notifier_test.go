package notice_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

var ctx = context.Background()

func TestMain(m *testing.M) { storetest.Main(m) }

func TestAnAlarmIsAnnouncedOnceAndItsEnd(t *testing.T) {
	notified(t, func(h *harness) {
		h.raise("funds_low", "BTC")
		h.step()
		h.gets("within the digest")
		h.after(time.Minute)
		text := h.box.taken
		h.gets("after the digest", "alarm funds_low opened on bitcoin")
		if len(text) == 1 {
			for _, want := range []string{"ALARM funds_low on bitcoin since 2026-11-01 00:00 UTC (alarm 1): message of BTC",
				"https://shop.example/docs/runbooks#funds_low"} {
				if !strings.Contains(text[0].Text, want) {
					h.Errorf("the message is %q, want in it %q", text[0].Text, want)
				}
			}
		}
		h.raise("funds_low", "BTC") // again, with the same message
		h.after(time.Hour)
		h.gets("an alarm that is raised again while it is open")
		h.resolve("funds_low", "BTC")
		h.after(2 * time.Minute)
		h.gets("its end", "alarm funds_low closed on bitcoin")
		h.after(time.Hour)
		h.gets("nothing more")
		h.raise("funds_low", "BTC") // the same number
		h.after(2 * time.Minute)
		h.gets("opened under the same number", "alarm funds_low opened on bitcoin")
		h.resolve("funds_low", "BTC")
		h.clock.Advance(time.Second)
		h.raise("funds_low", "BTC")
		h.resolve("funds_low", "BTC")
		h.after(2 * time.Minute)
		h.gets("opened and closed between two messages", "alarm funds_low closed on bitcoin")
	})
}

func TestSeveralAlarmsAreOneMessageAndGraveOnesDoNotWait(t *testing.T) {
	notified(t, func(h *harness) {
		h.raise("funds_low", "BTC")
		h.raise("funds_low", "LTC")
		h.after(30 * time.Second)
		h.gets("within the digest")
		h.raise("external_spend", "a")
		h.step()
		h.gets("a grave one, with what waits", "URGENT: 3 alarms opened (external_spend, funds_low)")
		h.raise("cold_spend", "b")
		h.after(30 * time.Second)
		h.gets("another grave one, too soon")
		h.after(30 * time.Second)
		h.gets("and after a minute", "URGENT: alarm cold_spend opened on bitcoin")
	})
}

func TestQuietHoursPassGraveOnesOnly(t *testing.T) {
	notified(t, func(h *harness) {
		zone, err := time.LoadLocation("Europe/Berlin")
		if err != nil {
			h.Fatal(err)
		}
		h.receiver.Quiet, h.receiver.Location = &notice.Quiet{From: 22 * 60, To: 7 * 60}, zone // it is 01:00 there
		h.raise("funds_low", "BTC")
		h.raise("signer_frozen", "")
		h.after(time.Minute)
		h.gets("in quiet hours", "URGENT: alarm signer_frozen opened on bitcoin")
		h.resolve("signer_frozen", "")
		h.after(5*time.Hour + 58*time.Minute)
		h.gets("a minute before they end")
		h.after(time.Minute)
		h.gets("when they end", "1 alarm opened (funds_low), 1 alarm closed (signer_frozen)")
	})
}

func TestAReceiverGetsItsKindsOnly(t *testing.T) {
	notified(t, func(h *harness) {
		h.receiver.Kinds, h.receiver.Alarms = []notice.Kind{notice.Alarms}, []string{"uncovered"}
		h.notifier.Daily = 60
		h.raise("funds_low", "BTC")
		h.raise("uncovered", "BTC")
		h.after(2 * time.Hour)
		h.gets("of two alarms", "URGENT: alarm uncovered opened on bitcoin")
		h.after(2 * time.Hour)
		h.gets("nothing more")
	})
}

// What is older than a day is one line, however much it is: after an outage, a restore, or for a new receiver.
func TestOldAlarmsAreOneLine(t *testing.T) {
	notified(t, func(h *harness) {
		for i := range 50 {
			h.raise("unattributed", fmt.Sprint(i))
		}
		h.clock.Advance(25 * time.Hour)
		h.raise("funds_low", "BTC")
		h.after(time.Minute)
		if len(h.box.taken) != 1 || len(h.box.taken[0].Notices) != 2 {
			h.Fatalf("the receiver got %+v, want one message of two lines", h.box.taken)
		}
		want := "Older than a day: 50 alarms still open, 0 closed: `bursar alarm list`"
		if got := h.box.taken[0].Notices[1].Text; got != want {
			h.Errorf("the line is %q, want %q", got, want)
		}
		h.box.taken = nil
		h.after(time.Hour)
		h.gets("nothing more")
		for i := range 50 {
			h.raise("deposit_refuted", fmt.Sprint(i))
		}
		h.after(time.Minute)
		if len(h.box.taken) != 1 || len(h.box.taken[0].Notices) != 31 {
			h.Errorf("of 50 alarms the receiver got %+v, want one message of 31 lines", h.box.taken)
		}
	})
}

// An alarm that closed before a receiver was configured is not announced to it.
func TestANewReceiverBeginsNow(t *testing.T) {
	notified(t, func(h *harness) {
		h.raise("funds_low", "closed")
		h.resolve("funds_low", "closed")
		h.raise("funds_low", "open")
		h.clock.Advance(time.Hour)
		h.receiver.Name = "new"
		h.step()
		h.gets("what is open", "alarm funds_low opened on bitcoin")
		h.after(time.Hour)
		h.gets("nothing more")
	})
}

func TestAReceiverThatFailsIsTriedAgain(t *testing.T) {
	notified(t, func(h *harness) {
		h.box.fails = errors.New("connection refused")
		h.raise("funds_low", "BTC")
		var pauses []time.Duration
		last := h.clock.Now()
		attempts := func() (n int64) {
			h.do(func(tx *store.Tx) error {
				row, err := tx.Notices().Get(ctx, "ops")
				n = row.Attempts
				return err
			})
			return n
		}
		for len(pauses) < 4 {
			before := attempts()
			if h.after(10 * time.Second); attempts() > before {
				pauses = append(pauses, h.clock.Now().Sub(last))
				last = h.clock.Now()
			}
		}
		if want := "[1m0s 10s 20s 40s]"; fmt.Sprint(pauses) != want {
			h.Errorf("the attempts are apart by %v, want %s", pauses, want)
		}
		h.do(func(tx *store.Tx) error {
			open, err := tx.Alarms().OfKind(ctx, "notices_failing")
			if len(open) != 1 || open[0].Ref != "ops" || !strings.Contains(open[0].Message, "connection refused") {
				h.Errorf("the alarms about notices are %+v, want one about ops with its error", open)
			}
			return err
		})
		h.box.fails = nil
		h.after(time.Hour)
		first := h.box.taken
		h.gets("the message that failed", "alarm funds_low opened on bitcoin")
		h.after(2 * time.Minute)
		h.gets("and its own alarm, which is over", "alarm notices_failing closed")
		if len(first) == 1 && first[0].At.Equal(h.clock.Now()) {
			h.Error("the message was composed again, want the one that failed")
		}
	})
}

// A message that nobody takes for a day is given up, so that one that a receiver refuses does not stop all others.
func TestAMessageIsGivenUpAfterADay(t *testing.T) {
	notified(t, func(h *harness) {
		h.box.fails = errors.New("status 400")
		h.raise("funds_low", "BTC")
		h.after(time.Minute)
		h.after(25 * time.Hour)
		h.box.fails = nil
		h.after(time.Hour)
		if len(h.box.taken) != 1 {
			h.Fatalf("the receiver got %+v, want one message", h.box.taken)
		}
		want := "Before this, 1 message could not be delivered within a day and will not come"
		if !strings.Contains(h.box.taken[0].Text, want) {
			h.Errorf("the message is %q, want in it %q", h.box.taken[0].Text, want)
		}
	})
}

// A receiver that fails holds up no other, and an alarm about one that is gone closes.
func TestReceiversDoNotWaitForEachOther(t *testing.T) {
	notified(t, func(h *harness) {
		h.box.fails = errors.New("no")
		good := &mailbox{}
		other := notice.Receiver{Name: "chat", Transport: good, Kinds: kinds}
		h.raise("external_spend", "a")
		h.step()
		if _, err := h.notifier.Step(ctx, other); err != nil || len(good.taken) != 1 {
			h.Errorf("the other receiver got %v, %v, want the alarm", good.taken, err)
		}
	})
}

// A transport that panics ends neither the process nor what else runs in it.
func TestAPanicIsAnError(t *testing.T) {
	notified(t, func(h *harness) {
		h.raise("external_spend", "a")
		running, cancel := context.WithCancel(ctx)
		h.box.while = func() { cancel(); panic("a mistake of a library") }
		if err := h.notifier.Run(running); !errors.Is(err, context.Canceled) {
			h.Errorf("the notifier ends with %v, want %v", err, context.Canceled)
		}
		h.gets("before the panic", "URGENT: alarm external_spend opened on bitcoin")
	})
}

// Of two processes that find the same alarm exactly one sends, also where both have looked before either claims.
func TestOneProcessSends(t *testing.T) {
	notified(t, func(h *harness) {
		h.raise("external_spend", "a")
		other := h.process()
		h.box.while = func() { // while the first one sends
			if _, err := other.Step(ctx, h.receiver); err != nil {
				h.Error(err)
			}
		}
		h.step()
		h.box.while = nil
		if _, err := other.Step(ctx, h.receiver); err != nil {
			h.Fatal(err)
		}
		h.gets("both processes", "URGENT: alarm external_spend opened on bitcoin")
	})
}

// A process that dies between sending and recording repeats that one message, under the same ID.
func TestACrashRepeatsOneMessage(t *testing.T) {
	notified(t, func(h *harness) {
		h.raise("external_spend", "a")
		dead, died := false, errors.New("the process is dead")
		broken := h.process()
		broken.DB = h.db.As(h.clock.Now, store.Hooks{Before: func(context.Context, store.Point, string) error {
			if dead {
				return died
			}
			return nil
		}})
		h.box.while = func() { dead = true }
		if _, err := broken.Step(ctx, h.receiver); err == nil {
			h.Error("the process recorded what it sent, want it to be dead")
		}
		h.box.while = nil
		h.after(time.Minute)
		if len(h.box.taken) != 1 {
			h.Errorf("the receiver got %d messages while the dead process may be sending, want 1", len(h.box.taken))
		}
		h.after(time.Minute)
		h.after(time.Hour)
		if len(h.box.taken) != 2 || h.box.taken[0].ID != h.box.taken[1].ID ||
			h.box.taken[0].Text != h.box.taken[1].Text {
			h.Errorf("the receiver got %+v, want one message twice", h.box.taken)
		}
	})
}
