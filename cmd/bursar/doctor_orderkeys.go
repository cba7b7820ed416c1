package main

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
)

// clientsKeys looks at the keys with which clients sign orders: whether the signer of this process has lost any, and
// whether several processes would each have a signer of their own.
func (e *healthCheck) clientsKeys(ctx context.Context, db *store.DB) {
	const check = "keys of clients"
	if e.cfg.Signer.Remote() {
		return
	}
	lost, signs, err := e.lostKeys(ctx)
	switch {
	case err != nil:
		e.advise(check, resultFailed, "see docs/operations/orders.md#lost-keys", "%v", err)
	case lost > 0:
		e.advise(check, resultFailed, "find out why, then add them again: see docs/operations/orders.md#lost-keys",
			"lost with the signer's state: %d, and nothing is paid for their accounts", lost)
	case signs && db.Postgres():
		e.advise(check, resultWarning,
			"run one signer for all processes, with `signer.address`, unless there is one only: see "+
				"docs/operations/orders.md#several-replicas", "the signer is in this process, and orders name one signer")
	}
}

// lostKeys counts the keys that the signer of this process has lost; signs reports whether it has any key of a client.
func (e *healthCheck) lostKeys(ctx context.Context) (lost int, signs bool, err error) {
	file, err := memory.Join(ctx, host.StateFile(e.cfg))
	if errors.Is(err, memory.ErrMissing) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	err = file.Do(ctx, func(tx memory.Tx) error {
		list, err := tx.OrderKeys(ctx, bursar.ID{})
		lost, signs = 0, len(list) > 0
		for _, k := range list {
			if k.Lost() {
				lost++
			}
		}
		return err
	})
	return lost, signs, errors.Join(err, file.Close())
}
