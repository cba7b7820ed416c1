package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Pauses between two looks at a key that a process of an earlier version has leased.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 250 * time.Millisecond
)

// idempotencyKey is the Idempotency-Key of a request.
type idempotencyKey struct {
	store.KeyName
	hash []byte // of what the request asks for
}

// keyOf returns the Idempotency-Key that a request carries, nil for one without.
func keyOf(r *http.Request, route *route, c *call) (*idempotencyKey, error) {
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
	return &idempotencyKey{
		KeyName: store.KeyName{Account: c.identity.Account, Name: name},
		hash:    requestHash(r, route.params, c.in.params),
	}, nil
}

// requestHash identifies a request: the endpoint and its parameters, wherever in the request they were and however they
// were encoded. Each part carries its length, so that two requests never have the same input.
func requestHash(r *http.Request, names []string, p params) []byte {
	return hashOf(names, p, r.Method, r.URL.Path)
}

// hashOf identifies parameters, behind other texts.
func hashOf(names []string, p params, before ...string) []byte {
	h := sha256.New()
	add := func(s string) {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
		h.Write([]byte(s))
	}
	for _, s := range before {
		add(s)
	}
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
//
// A request with a key that was answered before gets that answer. Otherwise it does the work, and its answer is stored
// under the key in the transaction that does it; where another replica has answered the same key in the meantime, that
// transaction changes nothing, and the request gets the other's answer. A process that dies leaves nothing behind.
func (a *api) change(ctx context.Context, r *http.Request, route *route, c *call) (store.Answer, error) {
	var err error
	if c.key, err = keyOf(r, route, c); err != nil {
		return store.Answer{}, err
	}
	if c.key == nil {
		return work(ctx, route, c)
	}
	waiting, cancel := context.WithTimeout(ctx, a.Patience)
	defer cancel()
	end, err := a.underway.begin(waiting, a.DB, c.key.KeyName)
	if err != nil {
		return store.Answer{}, errBusy
	}
	defer end()
	for {
		kept, err := a.kept(waiting, *c.key)
		if !errors.Is(err, store.ErrNotFound) {
			return kept, err
		}
		answer, err := work(ctx, route, c)
		if !errors.Is(err, store.ErrKeyTaken) {
			return answer, err
		}
	}
}

func work(ctx context.Context, route *route, c *call) (store.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	response, err := route.serve(ctx, c)
	if err != nil {
		return store.Answer{}, err // do not read c.kept: a transaction may still be writing it
	}
	if c.key != nil {
		return c.kept, nil
	}
	return success(response)
}

// kept returns the answer that is stored under a key, or store.ErrNotFound. It waits while a process of an earlier
// version holds a lease on the key.
func (a *api) kept(ctx context.Context, key idempotencyKey) (store.Answer, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		found, err := a.answers.Find(ctx, key.KeyName)
		if err != nil && ctx.Err() != nil {
			return store.Answer{}, errBusy
		}
		if err != nil {
			return store.Answer{}, err
		}
		answer, err := found.For(key.hash, a.DB.Now())
		if !errors.Is(err, store.ErrInProgress) {
			return answer, err
		}
		if !a.DB.Sleep(ctx, pause) {
			return store.Answer{}, errBusy
		}
	}
}

// keep renders the response of a change in the transaction that makes it, and stores it under the request's key if it
// has one. It may run again with the transaction; the last run counts.
func (c *call) keep(tx *store.Tx, response any) error {
	if c.key == nil {
		return nil
	}
	answer, err := success(response)
	if err != nil {
		return err
	}
	tx.IdempotencyKeys().Keep(c.key.KeyName, c.key.hash, answer)
	c.kept = answer
	return nil
}

// underway are the requests with an Idempotency-Key that this process works on: at most one for each key.
type underway struct {
	mu   sync.Mutex
	ends map[store.KeyName]chan struct{}
}

// begin returns once no other request with a key is under way, and the function that ends this one.
func (u *underway) begin(ctx context.Context, db *store.DB, name store.KeyName) (end func(), err error) {
	for {
		u.mu.Lock()
		other, busy := u.ends[name]
		if !busy {
			done := make(chan struct{})
			u.ends[name] = done
			u.mu.Unlock()
			return func() {
				u.mu.Lock()
				delete(u.ends, name)
				u.mu.Unlock()
				close(done)
			}, nil
		}
		u.mu.Unlock()
		if err := db.Wait(ctx, other); err != nil {
			return nil, err
		}
	}
}
