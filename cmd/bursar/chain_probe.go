package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
)

type chainProbeCommand struct {
	Chain    bursar.ChainID `arg:"" help:"Chain, such as polygon."`
	Block    []uint64       `placeholder:"HEIGHT" help:"Block to read, on Solana a slot; may be repeated. Default: the newest final block."`
	Tx       []string       `placeholder:"HASH" help:"Read the block that contains this transaction; may be repeated."`
	Sample   int            `placeholder:"N" help:"Read this many further blocks, spread evenly over the newest ones."`
	Back     uint64         `default:"1000" placeholder:"N" help:"Number of newest blocks that --sample is spread over. Default: 1000."`
	Endpoint []string       `sep:"none" placeholder:"URL" help:"Ask this endpoint instead of the configured ones; may be repeated."`
	Header   []string       `sep:"none" placeholder:"TEXT" help:"Send this header, Name: value, to every --endpoint."`
	Network  string         `enum:"mainnet,testnet,regtest" default:"mainnet" help:"Network of --endpoint, if there is no configuration."`
	JSON     bool           `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (chainProbeCommand) Help() string {
	return "Reads blocks as the running service would, through each endpoint alone, and prints what it finds. It needs " +
		"no database and no seed, and with --endpoint no configuration. One address in 32 is treated as a wallet, so that " +
		"the traces and balances that a block may need are requested. Exits with 1 if a block cannot be " +
		"read.\n\nExample:\n\n    bursar chain probe polygon --block 80084805 --sample 5\n    bursar chain probe solana " +
		"--endpoint https://rpc.example --sample 20"
}

// probedBlock is one block of one endpoint.
type probedBlock struct {
	Endpoint     string  `json:"endpoint"`
	Height       uint64  `json:"height"`
	Result       string  `json:"result"` // "ok", "empty" (no block at this height) or "failed"
	Hash         *string `json:"hash"`
	Transactions int     `json:"transactions"` // transactions that were parsed
	Addresses    int     `json:"addresses"`
	Transfers    int     `json:"transfers"` // to the sampled addresses
	Anomalies    int     `json:"anomalies"`
	Calls        uint64  `json:"calls"`
	Milliseconds int64   `json:"milliseconds"`
	Detail       *string `json:"detail"` // what failed, or the first anomaly
}

const (
	resultEmpty = "empty"
	// probeWithin bounds the reading of one block.
	probeWithin = 2 * time.Minute
	maxProbed   = 10_000
)

// check refuses flags that contradict each other.
func (cmd *chainProbeCommand) check() error {
	switch {
	case cmd.Sample < 0 || cmd.Sample > maxProbed:
		return wrong("--sample must be between 0 and %d", maxProbed)
	case cmd.Back < 1:
		return wrong("--back must be at least 1")
	case len(cmd.Header) > 0 && len(cmd.Endpoint) == 0:
		return wrong("--header is only allowed with --endpoint")
	}
	return nil
}

// Run reads the blocks of all endpoints concurrently.
func (cmd *chainProbeCommand) Run(ctx context.Context, c *call) error {
	if err := cmd.check(); err != nil {
		return err
	}
	prober, err := cmd.prober(ctx, c)
	if err != nil {
		return err
	}
	endpoints := prober.Endpoints()
	results := make([][]probedBlock, len(endpoints))
	var group sync.WaitGroup
	for i, endpoint := range endpoints {
		group.Go(func() { results[i] = cmd.probe(ctx, prober, endpoint.Name) })
	}
	group.Wait()
	var all []probedBlock
	failed := 0
	for _, list := range results {
		for _, b := range list {
			all = append(all, b)
			if b.Result == resultFailed {
				failed++
			}
		}
	}
	err = list(c, cmd.JSON, all, "ENDPOINT BLOCK RESULT TRANSACTIONS ADDRESSES TRANSFERS CALLS TIME DETAIL",
		probedBlock.row)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d blocks cannot be read", failed, len(all))
	}
	return err
}

// prober opens the configured chain, or one of the named endpoints.
func (cmd *chainProbeCommand) prober(ctx context.Context, c *call) (*service.Prober, error) {
	cfg, err := cmd.configuration(c)
	if err != nil {
		return nil, err
	}
	if _, configured := cfg.Chains[cmd.Chain]; !configured {
		return nil, wrong("chain %q is not configured: name its endpoint with --endpoint", cmd.Chain)
	}
	return service.NewProber(ctx, cfg, cmd.Chain, service.Options{})
}

// configuration returns the file's configuration with the named endpoints in place of its own, or one of those
// endpoints alone.
func (cmd *chainProbeCommand) configuration(c *call) (config.Config, error) {
	cfg, err := c.Load()
	if len(cmd.Endpoint) == 0 {
		return cfg, err
	}
	if err != nil && (c.Config != "" || !errors.Is(err, fs.ErrNotExist)) {
		return cfg, err
	}
	network := string(cfg.Network)
	if network == "" {
		network = cmd.Network
	}
	alone, err := config.Parse("the command line", cmd.asFile(network), nil)
	if err != nil {
		return cfg, mistaken(err)
	}
	named, configured := cfg.Chains[cmd.Chain], cfg.Registry != nil
	if !configured || named.ID == "" {
		return alone, nil
	}
	named.RPC, named.Headers, named.Solid = alone.Chains[cmd.Chain].RPC, alone.Chains[cmd.Chain].Headers, nil
	cfg.Chains[cmd.Chain] = named
	return cfg, nil
}

// asFile formats the endpoints as a configuration, whose parser checks them and keeps them secret.
func (cmd *chainProbeCommand) asFile(network string) []byte {
	quote := func(list []string) string {
		quoted := make([]string, len(list))
		for i, text := range list {
			quoted[i] = strconv.Quote(text)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	return fmt.Appendf(nil, "network: %s\nchains:\n  %s: {rpc: %s, headers: %s}\n",
		network, cmd.Chain, quote(cmd.Endpoint), quote(cmd.Header))
}

// probe reads the blocks of one endpoint, one after the other.
func (cmd *chainProbeCommand) probe(ctx context.Context, prober *service.Prober, endpoint string) (all []probedBlock) {
	heights := append([]uint64{}, cmd.Block...)
	for _, hash := range cmd.Tx {
		ref, err := prober.Find(ctx, hash)
		if err != nil {
			err = fmt.Errorf("find the block of %s: %w", hash, err)
			all = append(all, probed(service.Probed{Endpoint: endpoint, Err: err}))
			continue
		}
		heights = append(heights, ref.Height)
	}
	if len(cmd.Block)+len(cmd.Tx) == 0 || cmd.Sample > 0 {
		newest, cancel := context.WithTimeout(ctx, probeWithin)
		head, result := prober.Newest(newest, endpoint)
		cancel()
		if len(cmd.Block)+len(cmd.Tx) == 0 || result.Err != nil {
			all = append(all, probed(result))
		}
		heights = append(heights, cmd.sampled(head.Final.Height)...)
	}
	for _, height := range heights {
		one, cancel := context.WithTimeout(ctx, probeWithin)
		all = append(all, probed(prober.Block(one, endpoint, height)))
		cancel()
	}
	return all
}

// sampled spreads heights evenly over the newest blocks, oldest first.
func (cmd *chainProbeCommand) sampled(final uint64) (heights []uint64) {
	back := min(cmd.Back, final)
	count := min(uint64(cmd.Sample), back)
	for i := range count {
		heights = append(heights, final-back+back*i/count)
	}
	return heights
}

func (b probedBlock) row() []any {
	took := time.Duration(b.Milliseconds) * time.Millisecond
	return []any{b.Endpoint, b.Height, b.Result, b.Transactions, b.Addresses, b.Transfers, b.Calls, took, word(b.Detail)}
}

func probed(p service.Probed) probedBlock {
	b := probedBlock{Endpoint: p.Endpoint, Height: p.Height, Result: resultOK, Hash: optional(p.Ref.Hash),
		Transactions: p.Transactions, Addresses: p.Addresses, Transfers: p.Transfers, Anomalies: len(p.Anomalies),
		Calls: p.Calls, Milliseconds: p.Took.Milliseconds()}
	switch {
	case p.Err != nil:
		b.Result, b.Detail = resultFailed, optional(p.Err.Error())
	case p.Skipped:
		b.Result = resultEmpty
	case len(p.Anomalies) > 0:
		b.Detail = optional(p.Anomalies[0].What)
	}
	return b
}
