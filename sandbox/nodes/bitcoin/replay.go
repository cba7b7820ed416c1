package bitcoin

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// found creates a new chain: it makes the wallet's seed and writes the first record.
func (n *Node) found() error {
	seed := make([]byte, seedSize)
	if _, err := io.ReadFull(n.cfg.Rand, seed); err != nil {
		return fmt.Errorf("make wallet seed: %w", err)
	}
	steps := []step{{stepOpen, append(bytes.Clone(n.params.GenesisHash[:]), seed...)}}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.replay(steps); err != nil {
		return err
	}
	return n.record(steps...)
}

// replay applies the steps of one record as they were applied when they happened.
func (n *Node) replay(steps []step) error {
	for _, s := range steps {
		if (n.wallet == nil) != (s.kind == stepOpen) {
			return errors.New("a journal begins with its chain, once")
		}
		if err := n.apply(s); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) apply(s step) error {
	switch s.kind {
	case stepOpen:
		if len(s.data) != chainhash.HashSize+seedSize || !bytes.Equal(s.data[:chainhash.HashSize], n.params.GenesisHash[:]) {
			return fmt.Errorf("the journal is not one of chain %s", n.params.Name)
		}
		n.wallet = newWallet(s.data[chainhash.HashSize:])
		return nil
	case stepBlock:
		block, err := btcutil.NewBlockFromBytes(s.data)
		if err != nil {
			return fmt.Errorf("decode block: %w", err)
		}
		return n.acceptBlock(block)
	case stepTx:
		tx, err := decodeTx(s.data)
		if err != nil {
			return fmt.Errorf("decode transaction: %w", err)
		}
		_, err = n.accept(tx, acceptRules{replaying: true})
		return err
	}
	hash, err := chainhash.NewHash(s.data)
	if err != nil {
		return err
	}
	switch s.kind {
	case stepEvict:
		n.evict(*hash)
		return nil
	case stepInvalidate:
		return n.switchChain(func() error { return n.chain.InvalidateBlock(hash) })
	case stepReconsider:
		return n.switchChain(func() error { return n.chain.ReconsiderBlock(hash) })
	}
	return fmt.Errorf("unknown journal step %d", s.kind)
}

// record writes what was just done, as one record.
func (n *Node) record(steps ...step) error { return n.journal.Append(steps) }

// decodeTx reads exactly one transaction, with or without witness data.
func decodeTx(raw []byte) (*btcutil.Tx, error) {
	var msg wire.MsgTx
	r := bytes.NewReader(raw)
	if err := msg.Deserialize(r); err != nil {
		return nil, err
	}
	if r.Len() > 0 {
		return nil, errors.New("bytes after the transaction")
	}
	return btcutil.NewTx(&msg), nil
}

func encodeTx(tx *wire.MsgTx) []byte {
	var b bytes.Buffer
	_ = tx.Serialize(&b) // writing to a buffer never fails
	return b.Bytes()
}
