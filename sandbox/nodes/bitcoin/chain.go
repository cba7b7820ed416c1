package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/database"
	_ "github.com/btcsuite/btcd/database/ffldb" // registers the only store that btcd has
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/mining"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/syndtr/goleveldb/leveldb/storage"
)

const (
	utxoCacheBytes = 32 << 20
	cacheEntries   = 20_000
	minRelayRate   = 1000 // satoshi per 1000 vbytes, Bitcoin Core's DEFAULT_MIN_RELAY_TX_FEE up to version 29
)

// open builds the chain in a fresh database, replays the journal and mines the first blocks.
func (n *Node) open(ctx context.Context) error {
	dir := n.cfg.DataDir
	if dir == "" {
		temp, err := os.MkdirTemp("", "bursar-"+n.params.Name+"-")
		if err != nil {
			return err
		}
		dir, n.dir = temp, temp
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock, err := storage.OpenFile(filepath.Join(dir, "lock"), false) // a portable lock that dies with the process
	if err != nil {
		return fmt.Errorf("lock %s, which another node may be using: %w", dir, err)
	}
	n.lock = lock
	if err := n.openChain(dir); err != nil {
		return err
	}
	replay := func(steps []step) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return n.replay(steps)
	}
	if n.journal, err = openJournal(dir, replay); err != nil {
		return err
	}
	if n.wallet == nil {
		if err := n.found(); err != nil {
			return err
		}
	}
	for n.tip().height < int32(n.params.CoinbaseMaturity)+firstMature {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := n.Mine(1); err != nil {
			return err
		}
	}
	return nil
}

// openChain creates the chain database. It is scratch space that is removed at each start: only the journal is kept.
func (n *Node) openChain(dir string) error {
	old, err := filepath.Glob(filepath.Join(dir, "chain-*"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if n.dbDir, err = os.MkdirTemp(dir, "chain-"); err != nil {
		return err
	}
	if n.db, err = database.Create("ffldb", filepath.Join(n.dbDir, "blocks"), n.params.Net); err != nil {
		return fmt.Errorf("create chain database: %w", err)
	}
	return n.assemble()
}

// assemble connects btcd's chain, mempool and template generator to one another.
func (n *Node) assemble() error {
	sigs, hashes := txscript.NewSigCache(cacheEntries), txscript.NewHashCache(cacheEntries)
	clock := chainClock{n.cfg.Now}
	chain, err := blockchain.New(&blockchain.Config{
		DB: n.db, UtxoCacheMaxSize: utxoCacheBytes, ChainParams: n.params, TimeSource: clock, SigCache: sigs,
		HashCache: hashes,
	})
	if err != nil {
		return fmt.Errorf("create chain: %w", err)
	}
	n.chain, n.utxos = chain, newUTXOIndex()
	n.addBlock(n.params.GenesisBlock)
	chain.Subscribe(n.onChain)
	n.pool = mempool.New(&mempool.Config{
		Policy: mempool.Policy{
			MaxTxVersion: 2, DisableRelayPriority: true, FreeTxRelayLimit: 0, MinRelayTxFee: minRelayRate,
			MaxSigOpCostPerTx: blockchain.MaxBlockSigOpsCost / 5, RejectReplacement: true,
		},
		ChainParams:    n.params,
		FetchUtxoView:  chain.FetchUtxoView,
		BestHeight:     func() int32 { return chain.BestSnapshot().Height },
		MedianTimePast: func() time.Time { return chain.BestSnapshot().MedianTime },
		CalcSequenceLock: func(tx *btcutil.Tx, view *blockchain.UtxoViewpoint) (*blockchain.SequenceLock, error) {
			return chain.CalcSequenceLock(tx, view, true)
		},
		IsDeploymentActive: chain.IsDeploymentActive,
		SigCache:           sigs, HashCache: hashes,
	})
	policy := &mining.Policy{BlockMaxWeight: blockchain.MaxBlockWeight - 4000, BlockMaxSize: blockchain.MaxBlockBaseSize,
		TxMinFreeFee: minRelayRate}
	n.template = mining.NewBlkTmplGenerator(policy, n.params, n.pool, chain, clock, sigs, hashes)
	return nil
}

// closeChain closes what open opened, in any state of a failed start, and removes the scratch database.
func (n *Node) closeChain() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken = errors.Join(n.broken, errClosed)
	var errs []error
	if n.journal != nil {
		errs = append(errs, n.journal.close())
	}
	if n.db != nil {
		errs = append(errs, n.db.Close())
	}
	if n.dbDir != "" {
		errs = append(errs, os.RemoveAll(n.dbDir))
	}
	if n.lock != nil {
		errs = append(errs, n.lock.Close())
	}
	if n.dir != "" {
		errs = append(errs, os.RemoveAll(n.dir))
	}
	return errors.Join(errs...)
}

// errClosed is returned by every change after Close.
var errClosed = errors.New("node is closed")

// onChain keeps the UTXO index in step with the best chain. btcd calls it from within acceptBlock, invalidate and
// reconsider, which hold the lock.
func (n *Node) onChain(event *blockchain.Notification) {
	block, ok := event.Data.(*btcutil.Block)
	if !ok {
		return
	}
	switch event.Type {
	case blockchain.NTBlockConnected:
		n.utxos.connect(block, n.blocks[*block.Hash()].height)
	case blockchain.NTBlockDisconnected:
		n.utxos.disconnect(block)
		n.detached = append(n.detached, block.MsgBlock())
	}
}

// chainClock is btcd's time source without peers.
type chainClock struct{ now func() time.Time }

func (c chainClock) AdjustedTime() time.Time         { return time.Unix(c.now().Unix(), 0) }
func (c chainClock) AddTimeSample(string, time.Time) {}
func (c chainClock) Offset() time.Duration           { return 0 }
