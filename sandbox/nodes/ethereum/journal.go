package ethereum

import (
	"bufio"
	"fmt"
	"os"
	"sync"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
)

// journal keeps the pool over restarts: a file of raw transactions, each as one RLP string. A transaction is written
// before the pool takes it. A transaction that the pool refuses, now or at the next start, does no harm; each block
// rewrites the file. A journal without a path keeps nothing.
type journal struct {
	mu   sync.Mutex
	path string
	file *os.File
	size int // transactions in the file
}

// openJournal returns the journal and the transactions that it holds. A torn last entry, which an abrupt end leaves,
// is ignored.
func openJournal(path string) (*journal, []*types.Transaction, error) {
	j := &journal{path: path}
	if path == "" {
		return j, nil, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open pool journal: %w", err)
	}
	j.file = file
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("open pool journal: %w", err)
	}
	txs := readJournal(file, uint64(info.Size()))
	return j, txs, j.replace(txs) // also cuts a torn entry off
}

func readJournal(file *os.File, size uint64) []*types.Transaction {
	if size == 0 {
		return nil // zero would mean no limit to the decoder
	}
	var txs []*types.Transaction
	for stream := rlp.NewStream(bufio.NewReader(file), size); ; {
		raw, err := stream.Bytes()
		if err != nil {
			return txs
		}
		if tx := new(types.Transaction); tx.UnmarshalBinary(raw) == nil {
			txs = append(txs, tx)
		}
	}
}

// append writes one raw transaction.
func (j *journal) append(raw []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.path == "" {
		return nil
	}
	if err := rlp.Encode(j.file, raw); err != nil {
		return fmt.Errorf("append to pool journal: %w", err)
	}
	j.size++
	return nil
}

// rewrite replaces the file by these transactions; an abrupt end leaves the old file or the new one.
func (j *journal) rewrite(txs []*types.Transaction) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.path == "" || j.size == 0 && len(txs) == 0 {
		return nil
	}
	return j.replace(txs)
}

func (j *journal) replace(txs []*types.Transaction) error {
	file, err := os.OpenFile(j.path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("rewrite pool journal: %w", err)
	}
	if err := writeTransactions(file, txs); err != nil {
		file.Close()
		return fmt.Errorf("rewrite pool journal: %w", err)
	}
	if err := os.Rename(file.Name(), j.path); err != nil {
		file.Close()
		return fmt.Errorf("rewrite pool journal: %w", err)
	}
	old := j.file
	j.file, j.size = file, len(txs)
	return old.Close()
}

func writeTransactions(file *os.File, txs []*types.Transaction) error {
	w := bufio.NewWriter(file)
	for _, tx := range txs {
		raw, err := tx.MarshalBinary()
		if err != nil {
			return err
		}
		if err := rlp.Encode(w, raw); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
