package webhook

import (
	"context"
	"time"

	"github.com/bursar/bursar/store"
)

// choice is a look for due events that may be sent now. It writes nothing.
type choice struct {
	d      *Deliverer
	tx     *store.Tx
	now    time.Time // by this process's clock
	leased []int64   // what is being sent already, by anybody
	rooms  map[queueKey]*room
	paced  int // how many attempts may be skipped

	send, skip []store.Delivery
	seen       map[store.Receiver]bool
	again      bool
	denied     bool
	turn       turn
}

// room is what may be taken for a destination queue.
type room struct {
	send int // events

	// While nothing is sent, what is due until then moves along its schedule, as every attempt would have failed.
	skipUntil time.Time // by the database's clock
	reach     bool      // the last attempt of the schedule may be made all the same
}

// costOfReaching is how many skipped attempts one attempt counts for that is made in vain.
const costOfReaching = 5

// choose looks for up to limit events by their time and, where one receiver has so many that others may not be found,
// by receivers.
func (c *choice) choose(ctx context.Context, limit int) error {
	c.seen = map[store.Receiver]bool{}
	if !c.turn.on {
		due, err := c.tx.Deliveries().Due(ctx, c.leased, limit)
		if err != nil {
			return err
		}
		for _, delivery := range due {
			c.seen[store.ReceiverOf(delivery.Event)] = true
			c.add(delivery)
		}
		if len(due) < limit {
			return nil
		}
		c.again, c.turn = true, turn{on: true, denied: c.denied}
	}
	return c.byReceivers(ctx, limit)
}

// add takes an event if its queue has room, and reports whether it did.
func (c *choice) add(delivery store.Delivery) bool {
	room := c.room(store.ReceiverOf(delivery.Event))
	last := lastAttempt(delivery)
	hopeless := !delivery.NextAt.After(room.skipUntil)
	switch {
	case room.send > 0:
		room.send--
		c.send = append(c.send, delivery)
	case hopeless && !last && c.paced >= 1:
		c.paced--
		c.skip = append(c.skip, delivery)
	case hopeless && last && room.reach && c.paced >= costOfReaching:
		c.paced -= costOfReaching
		c.send = append(c.send, delivery)
	default:
		c.denied = true
		return false
	}
	c.leased = append(c.leased, delivery.Number)
	return true
}

func (c *choice) room(r store.Receiver) *room {
	key := queueKey{r.Account, c.d.host(r.URL)}
	found := c.rooms[key]
	if found == nil {
		found = c.d.queues.room(key, c.now)
		c.rooms[key] = found
	}
	return found
}

// byReceivers takes what is due for the next receivers of the turn, an equal share of limit for each, and what some do
// not need for those that have more.
func (c *choice) byReceivers(ctx context.Context, limit int) error {
	receivers, err := c.tx.Deliveries().Receivers(ctx, c.turn.after, receiversAtOnce)
	if err != nil {
		return err
	}
	var hungry []store.Receiver
	for _, r := range receivers {
		if !c.seen[r] {
			hungry = append(hungry, r)
		}
	}
	for rest := limit; len(hungry) > 0 && rest >= len(hungry); {
		var took int
		if took, hungry, err = c.share(ctx, hungry, rest); err != nil {
			return err
		}
		rest -= took
	}
	c.again = c.again || len(hungry) > 0
	c.turn.denied = c.turn.denied || c.denied || len(hungry) > 0
	if len(receivers) == receiversAtOnce {
		c.turn.after, c.again = receivers[len(receivers)-1], true
		return nil
	}
	c.denied = c.denied || c.turn.denied
	c.turn = turn{on: c.turn.denied}
	return nil
}

// share takes what is due for some receivers, and returns how much that was and which of them may have more that can be
// taken.
func (c *choice) share(ctx context.Context, of []store.Receiver, limit int) (took int, hungry []store.Receiver,
	err error) {
	open := 0
	for _, r := range of {
		if c.room(r).send > 0 {
			open++
		}
	}
	shares := make([]store.Share, len(of))
	each := max(limit/max(open, 1), 1)
	for i, r := range of {
		room := c.room(r)
		most := room.send
		if most == 0 && !room.skipUntil.IsZero() {
			most = c.paced
		}
		shares[i] = store.Share{Receiver: r, Limit: max(min(most, each), 1)} // at least one, to see whether any is due
	}
	due, err := c.tx.Deliveries().DueOf(ctx, c.leased, shares)
	if err != nil {
		return 0, nil, err
	}
	added := map[store.Receiver]int{}
	for _, delivery := range due {
		if c.add(delivery) {
			took++
			added[store.ReceiverOf(delivery.Event)]++
		}
	}
	for _, s := range shares {
		if added[s.Receiver] == s.Limit {
			hungry = append(hungry, s.Receiver)
		}
	}
	return took, hungry, nil
}
