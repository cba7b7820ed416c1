package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// leaseTime is how long a request holds the lease on its Idempotency-Key, so that the next may take over when a process
// dies. It is shorter than the patience of requests that wait for it. It may be shorter than workTime as well: a
// request that lost its lease cannot commit, and returns the other's response.
const leaseTime = 15 * time.Second

// Pauses between two checks of a key that another request has leased.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// idempotencyLease is a request's lease on its Idempotency-Key.
type idempotencyLease struct {
	account bursar.ID
	name    string
	hash    []byte // of what the request asks for
}

// leaseOf returns the lease for a request that carries an Idempotency-Key, nil for one without.
func leaseOf(r *http.Request, route *route, c *call) (*idempotencyLease, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	name := values[0]
	unprintable := func(c rune) bool { return c < ' ' || c > '~' }
	if len(values) > 1 || len(name) < 1 || len(name) > 255 || bytes.ContainsFunc([]byte(name), unprintable) {
		return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "Idempotency-Key",
			"an Idempotency-Key has 1 to 255 printable ASCII characters")
	}
	return &idempotencyLease{account: c.identity.Account, name: name, hash: requestHash(r, route.params, c.in.params)}, nil
}

// requestHash identifies a request: the endpoint and its parameters, wherever in the request they were and however they
// were encoded. Each part carries its length, so that two requests never have the same input.
func requestHash(r *http.Request, names []string, p params) []byte {
	h := sha256.New()
	add := func(s string) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		h.Write([]byte(s))
	}
	add(r.Method)
	add(r.URL.Path)
	for _, name := range slices.Sorted(slices.Values(names)) {
		if v, sent := p[name]; sent {
			add(name)
			add(v.text)
		}
	}
	return h.Sum(nil)
}

// change answers a request that changes something. It continues when the client disconnects, so that the outcome is
// recorded. ctx has no deadline.
func (a *api) change(ctx context.Context, r *http.Request, route *route, c *call) (store.Answer, error) {
	var err error
	if c.lease, err = leaseOf(r, route, c); err != nil {
		return store.Answer{}, err
	}
	if c.lease == nil {
		return work(ctx, route, c)
	}
	waiting, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	for {
		kept, err := a.begin(waiting, *c.lease)
		if err != nil || kept.Status != 0 {
			return kept, err
		}
		answer, err := work(ctx, route, c)
		if errors.Is(err, store.ErrLeaseTaken) {
			continue
		}
		a.release(ctx, *c.lease, err)
		return answer, err
	}
}

func work(ctx context.Context, route *route, c *call) (store.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	response, err := route.serve(ctx, c)
	if err != nil {
		return store.Answer{}, err // do not read c.kept: a transaction may still be writing it
	}
	if c.lease != nil {
		return c.kept, nil
	}
	return success(response)
}

// begin leases the key, or waits for the response of the request that has it and returns that. It waits by reading
// only.
func (a *api) begin(ctx context.Context, c idempotencyLease) (store.Answer, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		var kept store.Answer
		err := a.DB.View(ctx, func(tx *store.Tx) (err error) {
			kept, err = tx.IdempotencyKeys().Find(ctx, c.account, c.name, c.hash)
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			kept, err = a.leases.Do(ctx, c)
		}
		if ctx.Err() != nil {
			return store.Answer{}, errBusy
		}
		if !errors.Is(err, store.ErrInProgress) {
			return kept, err
		}
		if !a.DB.Sleep(ctx, pause) {
			return store.Answer{}, errBusy
		}
	}
}

// leaseAll leases the keys of one batch, in an order that is the same everywhere, so that no two transactions deadlock.
func leaseAll(ctx context.Context, tx *store.Tx, leases []idempotencyLease) ([]store.Result[store.Answer], error) {
	order := make([]int, len(leases))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(bytes.Compare(leases[i].account[:], leases[j].account[:]), cmp.Compare(leases[i].name, leases[j].name))
	})
	results := make([]store.Result[store.Answer], len(leases))
	for _, i := range order {
		c := leases[i]
		kept, err := tx.IdempotencyKeys().Begin(ctx, c.account, c.name, c.hash, tx.Now().Add(leaseTime))
		if err != nil && !errors.Is(err, store.ErrInProgress) && !errors.Is(err, store.ErrOtherRequest) {
			return nil, err
		}
		results[i] = store.Result[store.Answer]{Value: kept, Err: err}
	}
	return results, nil
}

// keep renders the response of a change in the transaction that makes it, and stores it under the request's key if it
// has one. It may run again with the transaction; the last run counts.
func (c *call) keep(tx *store.Tx, response any) error {
	if c.lease == nil {
		return nil
	}
	answer, err := success(response)
	if err != nil {
		return err
	}
	tx.IdempotencyKeys().End(c.lease.account, c.lease.name, answer)
	c.kept = answer
	return nil
}

// release frees the key of a request that was refused, so that the same request is judged again. After any other error
// the outcome is not known, and the lease stays until it expires.
func (a *api) release(ctx context.Context, c idempotencyLease, err error) {
	var refusal *bursar.Error
	if !errors.As(err, &refusal) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	err = a.DB.Do(ctx, func(tx *store.Tx) error { return tx.IdempotencyKeys().Drop(ctx, c.account, c.name) })
	if err != nil {
		a.Log.Warn("idempotency key not released", "account", c.account, "error", err)
	}
}
