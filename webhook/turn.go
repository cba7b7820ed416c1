package webhook

import (
	"bytes"
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// What one lease looks at where more is due than it may take, so that its cost does not grow with what waits.
const (
	accountsAtOnce  = 32
	receiversAtOnce = 256 // of these accounts together
)

// turn is how far the look at all accounts has come, and within each at its receivers. There is one while a backlog
// keeps what is due for others from being found by its time. Accounts come first, because a customer may have any
// number of receivers, and no number of accounts.
type turn struct {
	on     bool
	after  bursar.ID            // the account that was looked at last
	behind map[bursar.ID]string // by account the receiver that was looked at last, where there are more
	denied bool                 // an account that was looked at has more than may be sent
}

// byAccounts takes what is due for the next accounts of the turn: an equal share of limit for each account, and of that
// for each of its receivers, and what some do not need for those that have more.
func (c *choice) byAccounts(ctx context.Context, limit int) error {
	accounts, err := c.tx.Deliveries().Accounts(ctx, c.turn.after, min(accountsAtOnce, limit))
	if err != nil {
		return err
	}
	last := len(accounts) < min(accountsAtOnce, limit)
	hungry, err := c.nextReceivers(ctx, accounts, last, limit)
	if err != nil {
		return err
	}
	for rest := limit; len(hungry) > 0 && rest >= len(hungry); {
		var took int
		if took, hungry, err = c.share(ctx, hungry, rest); err != nil {
			return err
		}
		rest -= took
	}
	c.again = c.again || len(hungry) > 0 || len(c.turn.behind) > 0
	c.turn.denied = c.turn.denied || c.denied || len(hungry) > 0
	if !last {
		c.turn.after, c.again = accounts[len(accounts)-1], true
		return nil
	}
	c.denied = c.denied || c.turn.denied
	c.turn = turn{on: c.turn.denied || len(c.turn.behind) > 0, behind: c.turn.behind}
	return nil
}

// nextReceivers returns the next receivers of some accounts that have due events, without those that were found by
// time, and notes how far it has come with each account. last: no other account follows.
func (c *choice) nextReceivers(ctx context.Context, accounts []bursar.ID, last bool, limit int) ([]store.Receiver,
	error) {
	from := make([]store.Receiver, len(accounts))
	for i, id := range accounts {
		from[i] = store.Receiver{Account: id, URL: c.turn.behind[id]}
	}
	behind := map[bursar.ID]string{}
	for id, url := range c.turn.behind { // of the accounts in between nothing is left
		if bytes.Compare(id[:], c.turn.after[:]) <= 0 || !last && bytes.Compare(id[:], accounts[len(accounts)-1][:]) > 0 {
			behind[id] = url
		}
	}
	each := max(min(receiversAtOnce, limit)/max(len(accounts), 1), 1)
	waiting, err := c.tx.Deliveries().Receivers(ctx, from, each)
	if err != nil {
		return nil, err
	}
	var due []store.Receiver
	looked := map[bursar.ID]int{}
	for _, r := range waiting {
		if looked[r.Account]++; looked[r.Account] == each {
			behind[r.Account] = r.URL
		}
		if r.Due && !c.seen[r.Receiver] {
			due = append(due, r.Receiver)
		}
	}
	c.turn.behind = behind
	return due, nil
}

// share takes what is due for some receivers, and returns how much that was and which of them may have more that can be
// taken.
func (c *choice) share(ctx context.Context, receivers []store.Receiver, limit int) (took int, hungry []store.Receiver,
	err error) {
	open := map[bursar.ID]int{} // receivers of each account that something may be sent to
	for _, r := range receivers {
		if c.capacityOf(r).send > 0 {
			open[r.Account]++
		}
	}
	shares := make([]store.Share, len(receivers))
	for i, r := range receivers {
		free := c.capacityOf(r)
		most := free.send
		if most == 0 && !free.skipUntil.IsZero() {
			most = c.paced
		}
		each := limit / max(len(open), 1) / max(open[r.Account], 1)
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
