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

	"github.com/bursar/bursar/sandbox/nodes/host"
)

const (
	utxoCacheBytes = 4 << 20
	cacheEntries   = 20_000
	minRelayRate   = 1000 // satoshi per 1000 vbytes, Bitcoin Core's DEFAULT_MIN_RELAY_TX_FEE up to version 29
)

// resume repeats the changes of the journal, or begins a new chain, and mines the first blocks.
func (n *Node) resume(ctx context.Context) error {
	var err error
	n.journal, err = host.OpenJournal(ctx, n.host, journalName, records{}, n.replay)
	if err != nil {
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

// openChain creates the chain database in a directory of its own, which Close removes: only the journal is kept. One
// that an abrupt end has left behind is removed first.
func (n *Node) openChain(context.Context) error {
	pattern := "bursar-" + n.params.Name + "-" // in the system's directory of temporary files
	if n.cfg.DataDir != "" {
		pattern = "chain-"
		old, err := filepath.Glob(filepath.Join(n.cfg.DataDir, pattern+"*"))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	var err error
	if n.dbDir, err = os.MkdirTemp(n.cfg.DataDir, pattern); err != nil {
		return err
	}
	n.host.OnClose(n.closeChain)
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

// closeChain closes the chain database and removes it.
func (n *Node) closeChain() error {
	n.mu.Lock() // a change in progress ends first
	defer n.mu.Unlock()
	var err error
	if n.db != nil {
		err = n.db.Close()
	}
	return errors.Join(err, os.RemoveAll(n.dbDir))
}

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
