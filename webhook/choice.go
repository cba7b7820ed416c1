package webhook

import (
	"context"
	"time"

	"github.com/bursar/bursar/store"
)

// choice is a look for due events that may be sent now. It writes nothing.
type choice struct {
	d          *Deliverer
	tx         *store.Tx
	now        time.Time // by this process's clock
	leased     []int64   // what is being sent already, by anybody
	capacities map[queueKey]*capacity
	paced      int // how many attempts may be skipped

	send, skip []store.Delivery
	seen       map[store.Receiver]bool
	again      bool
	denied     bool
	waits      time.Duration // the shortest after which one that was denied may be sent or skipped
	turn       turn
	turned     bool // it looked by accounts
}

// capacity is what may be taken for a destination queue.
type capacity struct {
	send int // events

	// While nothing is sent, what is due until then moves along its schedule, as every attempt would have failed.
	skipUntil time.Time // by the database's clock
	reach     bool      // the last attempt of the schedule may be made all the same

	shut time.Duration // for how long nothing is sent; 0: something is, as soon as there is capacity
}

// costOfReaching is how many skipped attempts one attempt that does not reach the receiver counts for.
const costOfReaching = 5

// choose looks for up to limit events by their time and, where so many are due that those of others may not be found,
// by accounts and their receivers.
func (c *choice) choose(ctx context.Context, limit int) error {
	c.seen = map[store.Receiver]bool{}
	if !c.turn.on {
		found, err := c.byTime(ctx, limit)
		if err != nil || found < limit {
			return err
		}
		c.again, c.turn = true, turn{on: true, denied: c.denied}
	}
	c.turned = true
	return c.byAccounts(ctx, limit)
}

// byTime takes what has waited longest, and returns how many events it looked at. Where the look before left events
// that had to wait, this one will pass over most of the same, and reads only those whole that it takes.
func (c *choice) byTime(ctx context.Context, limit int) (found int, err error) {
	look := c.tx.Deliveries().Due
	if c.d.denied {
		look = c.tx.Deliveries().DueOutlined
	}
	due, err := look(ctx, c.leased, limit)
	if err != nil {
		return 0, err
	}
	for _, delivery := range due {
		c.seen[store.ReceiverOf(delivery.Event)] = true
		c.add(delivery)
	}
	if c.d.denied {
		if c.send, err = c.tx.Deliveries().Whole(ctx, c.send); err == nil {
			c.skip, err = c.tx.Deliveries().Whole(ctx, c.skip)
		}
	}
	return len(due), err
}

// add takes an event if its queue has capacity, and reports whether it did.
func (c *choice) add(delivery store.Delivery) bool {
	free := c.capacityOf(store.ReceiverOf(delivery.Event))
	last := lastAttempt(delivery)
	hopeless := !delivery.NextAt.After(free.skipUntil)
	switch {
	case free.send > 0:
		free.send--
		c.send = append(c.send, delivery)
	case hopeless && !last && c.paced >= 1:
		c.paced--
		c.skip = append(c.skip, delivery)
	case hopeless && last && free.reach && c.paced >= costOfReaching:
		c.paced -= costOfReaching
		c.send = append(c.send, delivery)
	default:
		c.deny(free, hopeless)
		return false
	}
	c.leased = append(c.leased, delivery.Number)
	return true
}

// deny notes that an event has to wait, and for how long at least: what is skipped waits for the pace of skipping, what
// its receiver has to be called for, until it is called next, and the rest for capacity.
func (c *choice) deny(free *capacity, hopeless bool) {
	c.denied = true
	waits := max(free.shut, deniedWait)
	if hopeless {
		waits = pacedWait
	}
	if c.waits == 0 || waits < c.waits {
		c.waits = waits
	}
}

// patience returns how long to wait before the events that were denied are looked at again; 0: not all of them are
// known.
func (c *choice) patience() time.Duration {
	if c.turned {
		return 0
	}
	return c.waits
}

func (c *choice) capacityOf(r store.Receiver) *capacity {
	key := queueKey{r.Account, c.d.hosts.of(r.URL)}
	found := c.capacities[key]
	if found == nil {
		found = c.d.queues.capacityOf(key, c.now)
		c.capacities[key] = found
	}
	return found
}
