package ethereum

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
)

const (
	// gasLimit is mainnet's block gas limit since Osaka.
	gasLimit = 60_000_000
	// genesisTime is fixed because the genesis hash must come out the same at every start: mainnet's BPO2 fork.
	genesisTime = 1767747671
)

// assemble builds and starts go-ethereum without any network.
func (n *Node) assemble(context.Context) error {
	stack, err := node.New(&node.Config{
		Name:    "Geth", // prefix of web3_clientVersion, as on the real network
		Version: "v1.17.10-sandbox",
		DataDir: n.cfg.DataDir,
		P2P:     p2p.Config{NoDiscovery: true, NoDial: true},
	})
	if err != nil {
		return fmt.Errorf("make node: %w", err)
	}
	n.stack = stack
	n.host.OnClose(func() error {
		n.gate.Lock() // a request that outlasts its time ends first
		defer n.gate.Unlock()
		return stack.Close()
	})
	n.eth, err = eth.New(stack, gethConfig(genesis(n.cfg.ChainID, n.faucets)))
	if err != nil {
		return fmt.Errorf("make chain: %w", err)
	}
	n.chain = n.eth.BlockChain()
	if err := stack.Start(); err != nil {
		return fmt.Errorf("start node: %w", err)
	}
	return nil
}

// gethConfig is an archive node with small caches: the state of every block is written with the block, so an abrupt
// end loses no state and a reorg may reach back to genesis.
func gethConfig(genesis *core.Genesis) *ethconfig.Config {
	c := ethconfig.Defaults
	c.Genesis = genesis
	c.SyncMode = ethconfig.FullSync
	c.StateScheme = rawdb.HashScheme
	c.NoPruning = true
	c.DatabaseCache, c.DatabaseHandles = 16, 128
	c.TrieCleanCache, c.TrieDirtyCache, c.SnapshotCache = 8, 0, 0
	c.TransactionHistory = 0 // every transaction can be found by hash
	c.LogNoHistory = true    // no log index: the chain is short
	c.Miner.GasCeil = gasLimit
	c.Miner.Recommit = 20e9 // the time one block may take to fill, also on a busy machine
	c.TxPool.NoLocals = true
	c.TxPool.Journal = "" // pool journal is this package's: geth's brings dropped transactions back
	c.TxPool.GlobalSlots, c.TxPool.AccountSlots = 32768, 64
	c.BlobPool.Datadir = ""
	return &c
}

// genesis has mainnet's rules as of the BPO2 fork, the faucets' money and the two test contracts.
func genesis(chainID uint64, faucets []faucet) *core.Genesis {
	alloc := core.SystemContractAllocs()
	maps.Copy(alloc, testContracts())
	for _, f := range faucets {
		alloc[f.address] = types.Account{Balance: faucetBalance()}
	}
	return &core.Genesis{
		Config:     rules(chainID),
		Timestamp:  genesisTime,
		ExtraData:  fmt.Appendf(nil, "chain %d", chainID), // refuses a data directory of another chain id
		GasLimit:   gasLimit,
		Difficulty: new(big.Int),
		BaseFee:    big.NewInt(params.InitialBaseFee),
		Alloc:      alloc,
	}
}

// rules activates every fork of mainnet from genesis.
func rules(chainID uint64) *params.ChainConfig {
	now := func() *uint64 { return new(uint64) }
	c := *params.AllDevChainProtocolChanges
	c.ChainID = new(big.Int).SetUint64(chainID)
	c.ShanghaiTime, c.CancunTime, c.PragueTime, c.OsakaTime = now(), now(), now(), now()
	c.BPO1Time, c.BPO2Time = now(), now()
	c.AmsterdamTime, c.BogotaTime = nil, nil // not live on mainnet
	c.DepositContractAddress = params.MainnetChainConfig.DepositContractAddress
	c.BlobScheduleConfig = &params.BlobScheduleConfig{
		Cancun: params.DefaultCancunBlobConfig,
		Prague: params.DefaultPragueBlobConfig,
		BPO1:   params.DefaultBPO1BlobConfig,
		BPO2:   params.DefaultBPO2BlobConfig,
	}
	return &c
}

// indexed waits until go-ethereum reports its transaction index as complete. On a chain without blocks it does not,
// and would report that it is syncing: there the index is declared complete from genesis on, and a head event makes
// the indexer read that.
func (n *Node) indexed(ctx context.Context) error {
	if n.chain.CurrentBlock().Number.Sign() == 0 {
		rawdb.WriteTxIndexTail(n.eth.ChainDb(), 0)
		if _, err := n.chain.SetCanonical(n.chain.Genesis()); err != nil {
			return fmt.Errorf("announce genesis: %w", err)
		}
	}
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for {
		progress, err := n.chain.TxIndexProgress()
		if err != nil || progress.Done() {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("index transactions: %w", ctx.Err())
		case <-poll.C:
		}
	}
}

// coinbase collects the fees; nobody holds its key.
func coinbase() common.Address { return common.BytesToAddress([]byte("sandbox block maker")) }
