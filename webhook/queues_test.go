package webhook

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

var smallLimits = limits{leased: 400, sending: 10, account: 6, destination: 4, queue: 10 * time.Second}

// queueHarness drives destination queues by hand, with its own clock.
type queueHarness struct {
	*testing.T
	*destinationQueues
	now time.Time
}

func newQueueHarness(t *testing.T) *queueHarness {
	return &queueHarness{t, newQueues(smallLimits), time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
}

func (k *queueHarness) job(account byte, host string) *job {
	j := &job{queue: queueKey{bursar.ID{account}, host}, leased: k.now}
	j.AccountID = bursar.ID{account}
	return j
}

// fill adds events until the queue refuses one.
func (k *queueHarness) fill(account byte, host string, most int) (put int, last verdict) {
	for range most {
		if last = k.enqueue(k.job(account, host)); last != taken {
			return put, last
		}
		put++
	}
	return put, last
}

// verdict is the result of adding an event to a queue.
type verdict string

const (
	taken verdict = "taken"
	full  verdict = "full"
	shut  verdict = "shut"
)

// enqueue adds an event now.
func (k *queueHarness) enqueue(j *job) verdict {
	switch free := k.capacityOf(j.queue, k.now); {
	case !free.skipUntil.IsZero():
		return shut
	case free.send == 0 || k.closed:
		return full
	}
	k.put(j, k.now)
	return taken
}

func (k *queueHarness) start() (jobs []*job) {
	for j := k.next(k.now); j != nil; j = k.next(k.now) {
		jobs = append(jobs, j)
	}
	return jobs
}

func (k *queueHarness) end(jobs []*job, success bool) (turned []*job) {
	for _, j := range jobs {
		turned = append(turned, k.ended(j, k.now, end{success: success})...)
		k.recorded(result{of: j}, true)
	}
	return turned
}

func (k *queueHarness) pass(d time.Duration) { k.now = k.now.Add(d) }

func TestAQueueWidensWithSuccess(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	k.fill(1, "a", firstQueue)
	for _, want := range []int{2, 4, 4} {
		jobs := k.start()
		if len(jobs) != want {
			t.Fatalf("%d attempts at once, not %d", len(jobs), want)
		}
		k.pass(10 * time.Millisecond)
		k.end(jobs, true)
	}
}

func TestAHangingQueueHoldsLittleAndIsShut(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	if n, last := k.fill(1, "a", 1000); n != firstQueue || last != full {
		t.Fatalf("%d waiting, then %v, want %v and %v", n, last, firstQueue, full)
	}
	jobs := k.start()
	if got := k.enqueue(k.job(1, "a")); got != taken {
		t.Errorf("at first: %v, want %v", got, taken)
	}
	k.pass(learningTime)
	k.fill(1, "a", 1000)
	if got := k.enqueue(k.job(1, "a")); got != full {
		t.Errorf("after a moment without an answer: %v, want %v", got, full)
	}
	k.pass(15 * time.Second)
	if turned := k.end(jobs, false); len(turned) != 0 {
		t.Fatal("shut after two, want none")
	}
	if late := k.start(); len(late) != 0 {
		t.Fatalf("%d sent after their time, want 0", len(late))
	}
	k.fill(1, "a", 10)
	jobs = k.start()
	if len(jobs) != firstWindow {
		t.Fatalf("%d attempts at once, want %v", len(jobs), firstWindow)
	}
	k.fill(1, "a", 10)
	k.pass(15 * time.Second)
	turned := k.end(jobs, false)
	if len(turned) == 0 || k.enqueue(k.job(1, "a")) != shut || len(k.start()) != 0 {
		t.Fatalf("it is not shut, %d turned away", len(turned))
	}
	if k.leased != 0 {
		t.Errorf("%d are still held, want 0", k.leased)
	}
	if k.enqueue(k.job(1, "b")) != taken || k.enqueue(k.job(2, "a")) != taken || len(k.start()) != 2 {
		t.Errorf("another queue is delayed, want %v and 2 of them", taken)
	}
	k.pass(shutFor)
	if n, _ := k.fill(1, "a", 10); n == 0 {
		t.Fatal("it stays shut, want not 0")
	}
	jobs = k.start()
	k.pass(2 * time.Second)
	k.end(jobs[:1], false)
	if k.enqueue(k.job(1, "a")) != shut {
		t.Error("a failed probe does not shut it again")
	}
	k.end(jobs[1:], true)
	if k.enqueue(k.job(1, "a")) != taken {
		t.Error("a success does not open it")
	}
}

func TestAQuickFailureShutsNothing(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	for range 100 {
		if k.enqueue(k.job(1, "a")) != taken {
			t.Fatalf("shut, want %v", taken)
		}
		jobs := k.start()
		k.pass(hangs / 2)
		k.end(jobs, false)
	}
}

func TestLimitsHold(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	for host := range 20 {
		k.fill(1, fmt.Sprint("h", host), 5)
	}
	first := k.start()
	if len(first) != smallLimits.account {
		t.Errorf("an account has %d attempts, want %v", len(first), smallLimits.account)
	}
	if n, last := k.fill(1, "new", 5); n != 1 || last != full {
		t.Errorf("an account without attempts left may queue %d, then %v", n, last)
	}
	k.fill(2, "x", 5)
	k.fill(3, "y", 5)
	k.fill(4, "z", 5)
	second := k.start()
	if len(first)+len(second) != smallLimits.sending {
		t.Errorf("%d attempts in all, want %v", len(first)+len(second), smallLimits.sending)
	}
	seen := map[byte]bool{}
	for _, j := range second {
		seen[j.AccountID[0]] = true
	}
	if len(seen) < 2 {
		t.Error("the queues do not take turns")
	}
}

func TestAnEventThatWaitedTooLongIsForgotten(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	k.fill(1, "a", 10)
	jobs := k.start()
	k.pass(smallLimits.queue + 1)
	k.end(jobs, true)
	if got := k.start(); len(got) != 0 || k.leased != 0 {
		t.Errorf("%d sent after their time, %d held, want none and 0", len(got), k.leased)
	}
}

func TestCapacityIsTakenFromSlowQueues(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	for host := range 20 {
		k.fill(byte(host), fmt.Sprint(host), smallLimits.leased/20)
	}
	k.start()
	if k.free() != 0 {
		t.Fatalf("%d free, want 0", k.free())
	}
	k.trim(k.now, 10)
	if k.free() < 9 {
		t.Errorf("%d free after the longest queue was cut, want at least 9", k.free())
	}
	k.pass(5 * time.Second)
	k.trim(k.now, 10)
	if got := k.free(); got < 60 {
		t.Errorf("%d free once they hang, want at least 60", got)
	}
	ctx, cancel := context.WithTimeout(bg, 10*time.Second)
	defer cancel()
	if got := k.awaitCapacity(ctx, 20); got != 20 {
		t.Errorf("capacity for %d, want 20", got)
	}
	cancel()
	k.destinationQueues.limits.leased = 0
	if got := k.awaitCapacity(ctx, 20); got != 0 {
		t.Errorf("capacity for %d after the end, want 0", got)
	}
	k.close()
	if k.next(k.now) != nil || k.enqueue(k.job(1, "q")) != full {
		t.Error("closed queues still send")
	}
}

func TestIdleQueuesAreForgotten(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	bad := k.queue(queueKey{host: "bad"}, k.now)
	bad.shutUntil = k.now.Add(time.Minute)
	for i := range 3 * maxQueues {
		k.queue(queueKey{host: fmt.Sprint(i)}, k.now)
	}
	if len(k.byKey) > maxQueues || k.byKey[bad.queueKey] != bad {
		t.Errorf("%d queues are remembered, want at most %v and %v", len(k.byKey), maxQueues, bad)
	}
}

func TestHostsThatShareAQueue(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://A.example/x?y": "a.example:http",
		"http://a.example.":    "a.example:http",
		"https://a.example/":   "a.example:https",
		"http://a.example:81":  "a.example:81",
		"http://[::1]:81/":     "::1:81",
		"http://[":             "",
	} {
		if got := hostOf(url); got != want {
			t.Errorf("%s: %q, want %v", url, got, want)
		}
	}
}
