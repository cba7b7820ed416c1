package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/store"
)

type chainCommands struct {
	Status chainStatusCommand `cmd:"" help:"Show the state of each chain and the hot wallet's addresses."`
	Rescan chainRescanCommand `cmd:"" help:"Rescan blocks for deposits."`
	Probe  chainProbeCommand  `cmd:"" help:"Read blocks as the service would, through any endpoint, and print what it finds."`
	Halt   chainHaltCommand   `cmd:"" help:"Halt every payment on a chain."`
	Resume chainResumeCommand `cmd:"" help:"Resume payments on a halted chain."`
}

// askWithin bounds how long the command waits for nodes.
const askWithin = time.Minute

type chainStatusCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (chainStatusCommand) Help() string {
	return "Operator funds are paid to the hot wallet's address: gas for withdrawals and sweeps.\n\nExample:\n\n    " +
		"bursar chain status --json"
}

type listedChain struct {
	Chain      bursar.ChainID       `json:"chain"`
	Height     *int64               `json:"height"` // of the last block recorded; null before the first
	NodeHeight *uint64              `json:"nodeHeight"`
	NodeFinal  *uint64              `json:"nodeFinal"`
	NodeError  *string              `json:"nodeError"`
	Halted     *string              `json:"halted"`  // why nothing is paid
	Failing    *string              `json:"failing"` // why the running service cannot follow the chain
	FailsSince *time.Time           `json:"failingSince"`
	HotAddress string               `json:"hotAddress"`
	HotBalance *string              `json:"hotBalance"`
	Currency   *bursar.CurrencyCode `json:"currency"` // of the balance
	CheckedAt  *time.Time           `json:"checkedAt"`
	Epoch      uint32               `json:"epoch"` // of the seed, in which a service leads the chain
	EpochSince *time.Time           `json:"epochSince"`

	unseen bool // no replica has read the chain's state for a minute or more
}

func listChain(s service.ChainStatus, now time.Time) listedChain {
	l := listedChain{
		Chain:      s.Chain,
		NodeError:  optional(s.NodeError),
		Halted:     optional(s.Halted),
		Failing:    optional(s.Failing),
		FailsSince: optional(s.FailingSince),
		HotAddress: s.HotAddress,
		HotBalance: optional(s.HotBalance),
		Currency:   optional(s.Native),
		CheckedAt:  optional(s.CheckedAt),
		Epoch:      s.Epoch,
		EpochSince: optional(s.EpochSince),
	}
	l.unseen = !s.CheckedAt.IsZero() && now.Sub(s.CheckedAt) > unseen
	if s.Height >= 0 {
		l.Height = &s.Height
	}
	if s.NodeError == "" {
		l.NodeHeight, l.NodeFinal = &s.Node.Latest.Height, &s.Node.Final.Height
	}
	return l
}

// state returns the chain's problems, or ok.
func (l listedChain) state() string {
	var wrong []string
	if l.Halted != nil {
		wrong = append(wrong, "halted: "+*l.Halted)
	}
	if l.Failing != nil && l.FailsSince != nil {
		wrong = append(wrong, fmt.Sprintf("not followed since %s: %s", l.FailsSince.Format(time.RFC3339), *l.Failing))
	}
	if l.unseen && l.Failing == nil {
		wrong = append(wrong, "not checked since "+moment(*l.CheckedAt)+": see that the service runs")
	}
	if l.NodeError != nil {
		wrong = append(wrong, "node unreachable: "+*l.NodeError)
	}
	if len(wrong) == 0 {
		return "ok"
	}
	return strings.Join(wrong, "; ")
}

// Run prints the state of each chain.
func (cmd *chainStatusCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	all, err := s.ChainStatus(ctx)
	if err != nil {
		return err
	}
	listed := make([]listedChain, len(all))
	for i, status := range all {
		listed[i] = listChain(status, s.DB.Now())
	}
	return list(c, cmd.JSON, listed, "CHAIN HEIGHT NODE FINAL HOT-ADDRESS BALANCE STATE", func(l listedChain) []any {
		return []any{l.Chain, number(l.Height), number(l.NodeHeight), number(l.NodeFinal), l.HotAddress, word(l.HotBalance),
			l.state()}
	})
}

func number[T int64 | uint64](n *T) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

func word(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type chainRescanCommand struct {
	Which bursar.ChainID `arg:"" name:"chain-name" optional:"" placeholder:"CHAIN" help:"Chain, such as bitcoin."`
	Chain bursar.ChainID `placeholder:"NAME" help:"The same as the argument."`
	From  string         `xor:"what" placeholder:"HEIGHT" help:"First block to search."`
	To    string         `placeholder:"HEIGHT" help:"Last block to search. Default: the newest recorded block."`
	Tx    string         `xor:"what" placeholder:"HASH" help:"Search the block that contains this transaction."`
	acting
}

// Help returns an example.
func (chainRescanCommand) Help() string {
	return "Known deposits are left unchanged, so repeating a search is harmless. It may run beside the " +
		"service.\n\nExample:\n\n    bursar chain rescan bitcoin --from 900000 --to 900100\n    bursar chain " +
		"rescan ethereum --tx 0x5c50…"
}

// named takes the chain from the argument or the flag.
func (cmd *chainRescanCommand) named() error {
	if cmd.Which == "" && cmd.Chain == "" {
		return wrong("no chain is named: bursar chain rescan CHAIN")
	}
	if cmd.Which != "" && cmd.Chain != "" && cmd.Which != cmd.Chain {
		return wrong("two chains are named, %s and %s: search one at a time", cmd.Which, cmd.Chain)
	}
	cmd.Chain = cmp.Or(cmd.Which, cmd.Chain)
	return nil
}

// heights reads the range to search.
func (cmd *chainRescanCommand) heights() (from, to uint64, err error) {
	if cmd.From == "" && cmd.Tx == "" {
		return 0, 0, wrong("nothing to search is named: use --from HEIGHT, or --tx HASH; see `bursar chain rescan --help`")
	}
	if cmd.Tx != "" {
		if cmd.To != "" {
			return 0, 0, wrong("--to cannot be combined with --tx: use it with --from")
		}
		return 0, 0, nil
	}
	if from, err = strconv.ParseUint(cmd.From, 10, 63); err != nil {
		return 0, 0, wrong("--from %q is not a height", cmd.From)
	}
	to = math.MaxInt64
	if cmd.To != "" {
		to, err = strconv.ParseUint(cmd.To, 10, 63)
	}
	if err != nil || to < from {
		return 0, 0, wrong("--to %q is not a height of at least %d", cmd.To, from)
	}
	return from, to, nil
}

// Run searches blocks.
func (cmd *chainRescanCommand) Run(ctx context.Context, c *call) error {
	if err := cmd.named(); err != nil {
		return err
	}
	from, to, err := cmd.heights()
	if err != nil {
		return err
	}
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	follower, err := s.Follower(cmd.Chain)
	if err != nil {
		return mistaken(err)
	}
	if _, err := chainState(ctx, s.DB, cmd.Chain); err != nil {
		return err
	}
	if cmd.Tx != "" {
		block, err := follower.RescanTx(ctx, cmd.Tx)
		if err != nil {
			return err
		}
		return c.Done(actFacts{"blocks": 1, "from": block.Height}, "searched block %d of %s", block.Height, cmd.Chain)
	}
	searched, err := follower.Rescan(ctx, from, to)
	if err != nil {
		return fmt.Errorf("after %d blocks: %w", searched, err)
	}
	return c.Done(actFacts{"blocks": searched, "from": from},
		"searched %d blocks of %s from %d on", searched, cmd.Chain, from)
}

// chainState returns a chain's cursor, or an error that says that it never ran.
func chainState(ctx context.Context, db *store.DB, id bursar.ChainID) (state store.ChainState, err error) {
	err = db.View(ctx, func(tx *store.Tx) error {
		state, err = tx.Chains().State(ctx, id)
		return err
	})
	return state, named(err, "chain %s has never run with this database: start `bursar serve` with it first", id)
}
