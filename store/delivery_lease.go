package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// DeliveryLease is a deliverer's lease of the events that it is sending. It is one row for all of them, so that a lease
// writes nothing into the events themselves.
type DeliveryLease struct {
	Number int64 // 0: it is not in the database
	Until  time.Time
}

// longestDeliveryLease is longer than any deliverer's lease. One that ends later was written by a clock that was ahead,
// perhaps by months, and nobody waits for it: anyone who holds it may send its events too, a repeat and never a loss.
const longestDeliveryLease = 5 * time.Minute

// deliveryLeaseLock is an arbitrary number that only leases of deliveries lock.
const deliveryLeaseLock int64 = 0x6c6561736573

// LeasedByOthers returns the numbers of the events that other deliverers than the one with the given lease are sending.
// Until the transaction ends, nobody else leases anything.
func (tx Deliveries) LeasedByOthers(ctx context.Context, own DeliveryLease) ([]int64, error) {
	if tx.postgres {
		err := tx.later(ctx, pipelined{what: "lock leases of deliveries", query: `SELECT pg_advisory_xact_lock($1)`,
			args: []any{deliveryLeaseLock}})
		if err != nil {
			return nil, err
		}
	}
	return tx.leasedBut(ctx, own)
}

func (tx *Tx) leasedBut(ctx context.Context, own DeliveryLease) (leased []int64, err error) {
	_, err = rows(ctx, tx, "read leases of deliveries", func(s scanner) (struct{}, error) {
		var events []byte
		if err := s.Scan(&events); err != nil {
			return struct{}{}, err
		}
		numbers, err := readNumbers(events)
		leased = append(leased, numbers...)
		return struct{}{}, err
	}, `SELECT events FROM delivery_leases WHERE until > $1 AND until <= $4 AND NOT (number = $2 AND until = $3)`,
		micros(tx.now), own.Number, micros(own.Until), micros(tx.now.Add(longestDeliveryLease)))
	return leased, err
}

// KeepLease replaces the events of a deliverer's lease, which ends at until, and returns the lease from now on. The
// transaction must have read those of others before. A lease that was over and taken for dead is given a new number.
func (tx Deliveries) KeepLease(ctx context.Context, own DeliveryLease, until time.Time, events []int64) (
	DeliveryLease, error) {
	kept := DeliveryLease{Number: own.Number, Until: until.Truncate(time.Microsecond)}
	n, err := tx.exec(ctx, "renew lease of deliveries",
		`UPDATE delivery_leases SET until = $3, events = $4 WHERE number = $1 AND until = $2`,
		own.Number, micros(own.Until), micros(until), writeNumbers(events))
	if err != nil || n > 0 {
		return kept, err
	}
	if _, err := tx.exec(ctx, "remove old leases of deliveries", `DELETE FROM delivery_leases
		WHERE until <= $1 OR until > $2`, micros(tx.now), micros(tx.now.Add(longestDeliveryLease))); err != nil {
		return own, err
	}
	err = tx.row(ctx, "insert lease of deliveries",
		`INSERT INTO delivery_leases(until, events) VALUES ($1, $2) RETURNING number`,
		[]any{micros(until), writeNumbers(events)}, &kept.Number)
	return kept, err
}

// writeNumbers writes numbers, in order, as the differences of each from the one before.
func writeNumbers(list []int64) []byte {
	text := make([]byte, 0, 2*len(list)+binary.MaxVarintLen64)
	var last int64
	for _, n := range slices.Sorted(slices.Values(list)) {
		text = binary.AppendVarint(text, n-last)
		last = n
	}
	return text
}

func readNumbers(text []byte) (list []int64, err error) {
	var last int64
	for len(text) > 0 {
		n, length := binary.Varint(text)
		if length <= 0 {
			return nil, fmt.Errorf("a lease of deliveries ends in the middle of a number")
		}
		last += n
		list, text = append(list, last), text[length:]
	}
	return list, nil
}
