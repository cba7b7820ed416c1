package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

const (
	readAtOnce = 200 // previous transactions that one build reads from a node
	askAgain   = 6   // blocks after which a node is asked again for one that it did not have
)

// prove returns an unsigned transaction with what proves its inputs to the signer. It is called before the last look at
// the halts, since it asks the database and perhaps a node; its result goes to the signer only and is never stored.
func (s *Sender) prove(ctx context.Context, unsigned chain.UnsignedTx) (chain.UnsignedTx, error) {
	var err error
	if unsigned.Previous, err = s.previousOf(ctx, unsigned.Reservations); err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("prove the inputs: %w", err)
	}
	return unsigned, nil
}

// evidence is prove, with the orders and approvals of what is paid, for a signer that has a policy. paid are the
// withdrawals of a transaction that the database has forgotten.
func (s *Sender) evidence(
	ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest, unsigned chain.UnsignedTx, paid ...bursar.ID,
) (chain.UnsignedTx, error) {
	proven, err := s.prove(ctx, unsigned)
	if err != nil || s.Orders == nil || request.Kind != chain.KindWithdrawal {
		return proven, err
	}
	if proven.Orders, err = s.Orders(ctx, p, request, paid...); err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("collect the approvals: %w", err)
	}
	return proven, nil
}

// previousOf returns the transactions that made some UTXOs, each once, in the order of the UTXOs. On a chain of the
// account model there are none.
func (s *Sender) previousOf(ctx context.Context, outpoints []string) ([][]byte, error) {
	provable, is := s.Chain.(chain.Provable)
	if !is || s.Chain.Capabilities().Model != chain.UTXOModel {
		return nil, nil
	}
	txIDs := transactionsOf(outpoints)
	kept, heights, err := s.keptPrevious(ctx, provable, txIDs, outpoints)
	if err != nil {
		return nil, err
	}
	all := make([][]byte, len(txIDs))
	for i, txID := range txIDs {
		raw, is := kept[txID]
		if !is {
			if raw, err = s.readPrevious(ctx, txID, heights[txID]); err != nil {
				return nil, err
			}
		}
		all[i] = raw
	}
	return all, nil
}

// keptPrevious returns those of some transactions that the database has, and in which blocks the others are.
func (s *Sender) keptPrevious(
	ctx context.Context, provable chain.Provable, txIDs, outpoints []string,
) (kept map[string][]byte, heights map[string]uint64, err error) {
	id := s.Chain.Capabilities().ID
	kept, heights = map[string][]byte{}, map[string]uint64{}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		found, err := tx.UTXOs().Previous(ctx, id, txIDs)
		if err != nil {
			return err
		}
		for _, p := range found {
			kept[p.TxID] = p.Raw
		}
		missing := slices.DeleteFunc(slices.Clone(txIDs), func(txID string) bool { return kept[txID] != nil })
		if len(missing) == 0 {
			return nil
		}
		own, err := tx.UTXOs().OwnPrevious(ctx, id, missing)
		if err != nil {
			return err
		}
		for _, p := range own {
			if len(p.Raw) == 0 {
				continue // its bytes are not known
			}
			if kept[p.TxID], err = provable.PreviousOf(p.Raw); err != nil {
				return fmt.Errorf("transaction %s as it was signed: %w", p.TxID, err)
			}
		}
		at, err := tx.UTXOs().Heights(ctx, id, outpoints)
		for outpoint, height := range at {
			heights[chain.TxOf(outpoint)] = height
		}
		return err
	})
	return kept, heights, err
}

// readPrevious reads a transaction from a node and keeps it.
func (s *Sender) readPrevious(ctx context.Context, txID string, height uint64) ([]byte, error) {
	reader, is := s.Chain.(chain.PreviousReader)
	if !is {
		return nil, chain.ErrNoPrevious
	}
	id := s.Chain.Capabilities().ID
	raw, err := reader.Previous(ctx, txID, height)
	if err != nil {
		return nil, fmt.Errorf("read transaction %s from a node: %w", txID, err)
	}
	return raw, s.DB.Do(ctx, func(tx *store.Tx) error {
		return tx.UTXOs().PutPrevious(ctx, id, store.PreviousTx{TxID: txID, Raw: raw})
	})
}

// keepPrevious keeps a transaction that was signed again: it may be given up, and be with no node, while another one
// that was signed after it spends its change, which only its bytes prove.
func (s *Sender) keepPrevious(ctx context.Context, tx *store.Tx, signed chain.SignedTx) error {
	provable, is := s.Chain.(chain.Provable)
	if !is || s.Chain.Capabilities().Model != chain.UTXOModel {
		return nil
	}
	raw, err := provable.PreviousOf(signed.Raw)
	if err != nil {
		return fmt.Errorf("transaction %s as it was signed again: %w", signed.TxID, err)
	}
	return tx.UTXOs().PutPrevious(ctx, s.Chain.Capabilities().ID, store.PreviousTx{TxID: signed.TxID, Raw: raw})
}

// alarmUnprovable raises the alarm about transactions that no node has, or closes it where there are none.
func (s *Sender) alarmUnprovable(ctx context.Context, gone []string) error {
	id, message := s.Chain.Capabilities().ID, ""
	if len(gone) > 0 {
		message = fmt.Sprintf("%d transactions that made UTXOs of ours are neither in the database nor with any node, %s "+
			"first. The signer signs nothing that spends those UTXOs, and payments are made without them. Add a node to the "+
			"configuration that keeps the blocks (prune=0); nodes are asked again every %d blocks", len(gone), gone[0], askAgain)
	}
	if s.memory.unprovenAlarm != nil && *s.memory.unprovenAlarm == message {
		return nil
	}
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		if message == "" {
			return tx.Alarms().Resolve(ctx, recovery.AlarmUnproven, string(id))
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: recovery.AlarmUnproven, Ref: string(id), Message: message})
	})
	if err == nil {
		s.memory.unprovenAlarm = &message
	}
	return err
}

// provable returns those of the UTXOs that a build may choose from whose previous transactions are known, and fit in
// one request to the signer together: whatever it chooses can then be signed. What the outgoing transaction has
// reserved comes first, since a replacement must use it. What is not known is read from a node. leftOut says that some
// did not fit.
func (s *Sender) provable(
	ctx context.Context, state store.ChainState, request bursar.ID, utxos []store.UTXO,
) (fitting []store.UTXO, leftOut bool, err error) {
	id := s.Chain.Capabilities().ID
	if _, is := s.Chain.(chain.Provable); !is || len(utxos) == 0 {
		return utxos, false, nil
	}
	outpoints := make([]string, len(utxos))
	for i, c := range utxos {
		outpoints[i] = c.Outpoint
	}
	var sizes map[string]int
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		sizes, err = tx.UTXOs().PreviousSizes(ctx, id, transactionsOf(outpoints))
		return err
	})
	if err != nil {
		return nil, false, err
	}
	if err := s.readMissing(ctx, state, utxos, sizes); err != nil {
		return nil, false, err
	}
	var owners map[string]bursar.ID
	if sumSizes(sizes) > chain.MaxPrevious { // with what was just read
		err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
			owners, err = tx.Reservations().Owners(ctx, id, outpoints)
			return err
		})
	}
	if err != nil {
		return nil, false, err
	}
	fits := fitInRequest(utxos, sizes, func(c store.UTXO) bool { return owners[c.Outpoint] == request })
	for _, c := range utxos {
		txID := chain.TxOf(c.Outpoint)
		if _, known := sizes[txID]; known && !fits[txID] {
			leftOut = true
		}
		if fits[txID] {
			fitting = append(fitting, c)
		}
	}
	return fitting, leftOut, nil
}

// fitInRequest returns the transactions that have at most chain.MaxPrevious bytes together, those of the first UTXOs
// before others and those of required UTXOs before all.
func fitInRequest(utxos []store.UTXO, sizes map[string]int, required func(store.UTXO) bool) map[string]bool {
	left, fits := chain.MaxPrevious, make(map[string]bool, len(sizes))
	for _, first := range []bool{true, false} {
		for _, c := range utxos {
			txID := chain.TxOf(c.Outpoint)
			size, known := sizes[txID]
			if known && !fits[txID] && size <= left && required(c) == first {
				fits[txID], left = true, left-size
			}
		}
	}
	return fits
}

// readMissing reads from a node what the database does not have, such as what made UTXOs before this was kept, and adds
// it to sizes. An alarm says what no node has. While there is more of it than one build reads, the build waits, so that
// nobody is notified that money is missing.
func (s *Sender) readMissing(
	ctx context.Context, state store.ChainState, utxos []store.UTXO, sizes map[string]int,
) error {
	read := 0
	var gone []string
	for _, c := range utxos {
		txID := chain.TxOf(c.Outpoint)
		if _, known := sizes[txID]; known || slices.Contains(gone, txID) {
			continue
		}
		if state.Latest < s.memory.askPreviousFrom[txID] {
			gone = append(gone, txID)
			continue
		}
		if read == readAtOnce {
			return &WaitError{Reason: "the transactions that made our UTXOs are being read from the node"}
		}
		read++
		raw, err := s.readPrevious(ctx, txID, uint64(max(c.Height, 0)))
		switch {
		case err == nil:
			sizes[txID] = len(raw)
			delete(s.memory.askPreviousFrom, txID)
		case errors.Is(err, chain.ErrPruned) || errors.Is(err, chain.ErrNoPrevious):
			s.memory.askPreviousFrom[txID] = state.Latest + askAgain
			gone = append(gone, txID)
		default:
			return err
		}
	}
	return s.alarmUnprovable(ctx, gone)
}

// transactionsOf returns the transactions that some outpoints belong to, each once, in order.
func transactionsOf(outpoints []string) []string {
	seen := make(map[string]bool, len(outpoints))
	var txIDs []string
	for _, outpoint := range outpoints {
		if txID := chain.TxOf(outpoint); !seen[txID] {
			seen[txID] = true
			txIDs = append(txIDs, txID)
		}
	}
	return txIDs
}

func sumSizes(sizes map[string]int) (total int) {
	for _, size := range sizes {
		total += size
	}
	return total
}
