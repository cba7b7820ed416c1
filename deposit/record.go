package deposit

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// errMoved says that the cursor is not where the step began; the next step begins from where it is.
var errMoved = errors.New("the cursor has moved meanwhile")

// contentsAtOnce bounds how many transfers and transactions one database transaction records, so that it ends soon.
const contentsAtOnce = 200

// recordAll records blocks in their order and returns the last one that is recorded. While catching up many blocks share a
// database transaction: the cursor still moves only with everything that they brought. Where that fails they are recorded
// one by one, so that the good ones are, and the error names the block.
func (f *Follower) recordAll(ctx context.Context, lease store.Lease, last chain.BlockRef, blocks []chain.Block) (chain.BlockRef, error) {
	if f.unknown == nil {
		f.unknown = map[string]bool{}
	}
	for len(blocks) > 0 {
		n := together(blocks)
		err := f.record(ctx, lease, blocks[:n])
		var forgotten *forgottenError
		if err != nil && n > 1 && !errors.As(err, &forgotten) && !errors.Is(err, store.ErrLeaseLost) && ctx.Err() == nil {
			n = 1
			err = f.record(ctx, lease, blocks[:n])
		}
		if errors.As(err, &forgotten) {
			f.unknown[forgotten.txID] = true
			f.Watch.Forget()
			f.pipe.stop()
		}
		if err != nil {
			return last, fmt.Errorf("record block %d: %w", blocks[0].Ref.Height, err)
		}
		clear(f.unknown)
		f.blocks.Add(uint64(n))
		last, blocks = blocks[n-1].Ref, blocks[n:]
	}
	return last, nil
}

// together returns how many of the blocks are recorded in one database transaction.
func together(blocks []chain.Block) int {
	contents := 0
	for i, b := range blocks {
		if contents += len(b.Transfers) + len(b.Included); contents > contentsAtOnce {
			return max(i, 1)
		}
	}
	return len(blocks)
}

// record writes blocks that follow the cursor and everything they brought, and moves the cursor to the last, in one
// transaction.
func (f *Follower) record(ctx context.Context, lease store.Lease, blocks []chain.Block) error {
	traits := f.Chain.Capabilities()
	var arrived bool
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		links := make([]store.Block, len(blocks))
		parent, height := state.Hash, state.Height
		for i, b := range blocks {
			if parent != b.Parent || height >= int64(b.Ref.Height) {
				return errMoved
			}
			parent, height = b.Ref.Hash, int64(b.Ref.Height)
			links[i] = store.Block{Height: b.Ref.Height, Hash: b.Ref.Hash, Parent: b.Parent}
		}
		if err := tx.Blocks().PushAll(ctx, traits.ID, links, 2*traits.ReorgDepth); err != nil {
			return err
		}
		if err := f.countRecovery(ctx, tx, blocks); err != nil {
			return err
		}
		for _, b := range blocks {
			arrived = arrived || len(b.Transfers) > 0
			if err := f.recordContents(ctx, tx, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && arrived && f.Credited != nil {
		f.Credited()
	}
	return err
}

// recordContents writes what a block brought. Writing the same block's contents again changes nothing.
func (f *Follower) recordContents(ctx context.Context, tx *store.Tx, b chain.Block) error {
	if len(b.Transfers)+len(b.Included)+len(b.ExternalSpends)+len(b.Anomalies)+len(b.Spent) == 0 {
		return nil // as nearly every block
	}
	ours, err := tx.Outgoing().SentAmong(ctx, f.Chain.Capabilities().ID, txIDs(b))
	if err != nil {
		return err
	}
	wallets, err := tx.Wallets().ByAddresses(ctx, f.Chain.Capabilities().Family, addresses(b))
	if err != nil {
		return err
	}
	if b.ExternalSpends, err = f.withoutMimicry(ctx, tx, b.ExternalSpends); err != nil {
		return err
	}
	if err := f.recordUses(ctx, tx, b, ours); err != nil {
		return err
	}
	if err := f.addGaps(ctx, tx, b, wallets); err != nil {
		return err
	}
	// Before the transfers, so that the change of a transaction that the database had forgotten is known to be ours.
	if err := f.recordExternal(ctx, tx, b, ours); err != nil {
		return err
	}
	weights := weigh(b.Transfers)
	for _, t := range b.Transfers {
		if err := f.recordTransfer(ctx, tx, b, t, ours[t.TxID], wallets, weights); err != nil {
			return err
		}
	}
	for _, in := range b.Included {
		spend, mine := ours[in.TxID]
		if !mine && !f.unknown[in.TxID] {
			return &forgottenError{in.TxID}
		}
		if !mine {
			continue
		}
		if err := f.recordInclusion(ctx, tx, b, in, spend); err != nil {
			return err
		}
	}
	return f.recordAnomalies(ctx, tx, b)
}

// forgottenError says that the database does not know a transaction that was read from it as ours: it has stepped back under this
// process, by a failover that lost commits. The block is read again, by what the database knows now; what is ours then still is
// a stranger's, for the memory holds fingerprints.
type forgottenError struct{ txID string }

func (e *forgottenError) Error() string {
	return "the database has forgotten transaction " + e.txID + ", which was ours"
}

func txIDs(b chain.Block) []string {
	var ids []string
	for _, t := range b.Transfers {
		ids = append(ids, t.TxID)
	}
	for _, in := range b.Included {
		ids = append(ids, in.TxID)
	}
	for _, x := range b.ExternalSpends {
		ids = append(ids, x.TxID)
	}
	return ids
}

func addresses(b chain.Block) []bursar.Address {
	var list []bursar.Address
	for _, t := range b.Transfers {
		list = append(list, t.Address)
	}
	return list
}

// recordTransfer records one transfer: as a UTXO where the chain has UTXOs, and as an arrival unless a transaction of our
// own made it (change, a sweep, a gas top-up), which is never a deposit.
func (f *Follower) recordTransfer(ctx context.Context, tx *store.Tx, b chain.Block, t chain.Transfer, by bursar.ID, wallets map[bursar.Address]bursar.Wallet, weights weights) error {
	w, known := wallets[t.Address]
	if !known && t.Address.Base != f.Hot && !f.Chain.Capabilities().SharedAddress {
		return nil // the watch took a stranger's address for one of ours
	}
	if t.Amount.IsZero() {
		return nil // it moves nothing, and the books know no posting of nothing
	}
	if err := f.recordUTXO(ctx, tx, b, t, by, w); err != nil {
		return err
	}
	if ours, err := f.staysOurs(ctx, tx, by, known); err != nil || ours {
		return err
	}
	currency, configured := f.Registry.Asset(f.Chain.Capabilities().ID, t.Contract)
	if !configured {
		f.ignore(tx, b, t)
		return nil
	}
	purpose := f.purpose(t, w, currency)
	required, opinions := needs(currency, weights.of(t))
	a := store.Arrival{CountsFrom: t.CountsFrom, Opinions: opinions, Deposit: bursar.Deposit{ID: f.IDs.Next(), Purpose: purpose, Currency: currency.Code,
		Chain: f.Chain.Capabilities().ID, TxID: t.TxID, Output: t.Output, Address: t.Address, Contract: t.Contract, Amount: t.Amount,
		Height: b.Ref.Height, BlockHash: b.Ref.Hash, SeenAt: tx.Now(), Required: required}}
	if !b.Time.IsZero() && b.Time.Before(a.SeenAt) {
		a.SeenAt = b.Time // while catching up, a payment counts from when it was made
	}
	if known && purpose != bursar.ForUnattributed {
		a.Wallet, a.AccountID, a.Webhook, a.Metadata, a.WalletID = w.Number, w.AccountID, w.Webhook, w.Metadata, w.ID
	}
	return f.recordDeposit(ctx, tx, a)
}

// ignore counts a transfer of an asset that the registry does not know: an adapter that watches for more than is configured,
// or another spelling of a contract, stops nothing.
func (f *Follower) ignore(tx *store.Tx, b chain.Block, t chain.Transfer) {
	tx.After(func() {
		f.ignored.Add(1)
		f.Log.Warn("transfer of an asset that is not configured ignored", "chain", f.Chain.Capabilities().ID, "contract", t.Contract, "hash", t.TxID,
			"height", b.Ref.Height, "address", t.Address.String())
	})
}

// Ignored returns how many transfers of assets that the registry does not know were ignored since the start.
func (f *Follower) Ignored() uint64 { return f.ignored.Load() }

// purpose says whose money a transfer is.
func (f *Follower) purpose(t chain.Transfer, w bursar.Wallet, currency bursar.Currency) bursar.DepositPurpose {
	switch {
	case w.Number == 0 && t.Address.Base == f.Hot && f.Hot != "":
		return bursar.ForCapital
	case w.Number == 0 || w.Currency != currency.Code || t.Inferred:
		return bursar.ForUnattributed
	case w.ForCharge:
		return bursar.ForCharge
	}
	return bursar.ForWallet
}

func (f *Follower) recordUTXO(ctx context.Context, tx *store.Tx, b chain.Block, t chain.Transfer, by bursar.ID, w bursar.Wallet) error {
	if t.UTXO == "" {
		return nil
	}
	c := store.Coin{Claim: t.UTXO, Base: t.Address.Base, Branch: chain.OwnBranch, Amount: t.Amount, Height: int64(b.Ref.Height),
		CountsFrom: t.CountsFrom, MadeBy: by}
	if w.Family != "" {
		c.Branch, c.Index = chain.DepositBranch, w.Index
	}
	return tx.UTXOs().Put(ctx, f.Chain.Capabilities().ID, c)
}

func (f *Follower) recordDeposit(ctx context.Context, tx *store.Tx, a store.Arrival) error {
	id, written, err := tx.Deposits().Record(ctx, a)
	if err != nil || !written {
		return err
	}
	d := a.Deposit
	d.Status = bursar.DepositPending
	if id != a.ID { // it was reorged out and is back; meanwhile an operator may have decided whose it is
		if d, err = tx.Deposits().ByID(ctx, id); err != nil {
			return err
		}
	}
	f.logSeen(tx, d)
	if d.Purpose == bursar.ForUnattributed {
		return f.askOperator(ctx, tx, d)
	}
	if !d.IsCustomers() {
		return nil
	}
	account, err := tx.Accounts().Get(ctx, d.AccountID)
	if err != nil || !account.NotifyPending {
		return err
	}
	return f.notify(ctx, tx, bursar.EventDepositPending, d, d.Height)
}

// notify records an event about a deposit in the transaction that caused it.
func (f *Follower) notify(ctx context.Context, tx *store.Tx, kind bursar.EventKind, d bursar.Deposit, latest uint64) error {
	currency, err := f.Registry.Get(d.Currency)
	if err != nil {
		f.Log.Error("no event is sent about a deposit of a currency that is not configured", "deposit", d.ID, "kind", kind, "currency", d.Currency)
		return nil
	}
	if d.Purpose == bursar.ForAccount {
		if d.Webhook, err = tx.Accounts().Webhook(ctx, d.AccountID, d.Currency); err != nil {
			return err
		}
	}
	depth := wire.ConfirmationContext{Latest: latest, Required: f.Chain.Capabilities().Confirmations}
	var rate bursar.Rate
	if f.Rates != nil {
		rate = f.Rates.Rate(d.Currency)
	}
	event, err := wire.RatedDepositEvent(rate, f.IDs.Next(), kind, d, currency, depth, tx.Now())
	if err != nil {
		return err
	}
	due, err := tx.Events().Record(ctx, event)
	f.logEvent(tx, event, due)
	return err
}

// recordOddities raises one alarm for each contract that did what no rule foresees.
func (f *Follower) recordAnomalies(ctx context.Context, tx *store.Tx, b chain.Block) error {
	if err := f.recordNotes(ctx, tx, b); err != nil {
		return err
	}
	told := map[string]bool{"": true}
	for _, o := range b.Anomalies {
		if told[o.Contract] {
			continue
		}
		told[o.Contract] = true
		id := f.Chain.Capabilities().ID
		f.Log.Warn("a contract did what no rule foresees", "chain", id, "contract", o.Contract, "hash", o.TxID, "what", o.What)
		err := tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: "odd_event", Ref: string(id) + ":" + o.Contract,
			Message: fmt.Sprintf("contract %s made %s in transaction %s, block %d; nothing was credited for it", o.Contract, o.What, o.TxID, b.Ref.Height)})
		if err != nil {
			return err
		}
	}
	return nil
}
