package chaintest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func (d *harness) check(err error, format string, args ...any) {
	d.t.Helper()
	if err != nil {
		d.t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

func wantError(t *testing.T, err, want error, what string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: error %v, want %v", what, err, want)
	}
}

func (d *harness) wantAmount(what string, got, want bursar.Amount) {
	d.t.Helper()
	if got != want {
		d.t.Fatalf("%s is %s, want %s", what, got, want)
	}
}

func (d *harness) plus(amounts ...bursar.Amount) bursar.Amount {
	d.t.Helper()
	sum, err := bursar.Sum(amounts...)
	d.check(err, "sum of %v", amounts)
	return sum
}

func (d *harness) minus(a, b bursar.Amount) bursar.Amount {
	d.t.Helper()
	rest, err := a.Sub(b)
	d.check(err, "%s less %s", a, b)
	return rest
}

func (d *harness) times(a bursar.Amount, n uint64) bursar.Amount {
	d.t.Helper()
	product, err := a.Mul(n)
	d.check(err, "%s times %d", a, n)
	return product
}

// placed is a transfer with its block.
type placed struct {
	chain.Transfer
	in chain.BlockRef
}

// transfers returns the transfers of a transaction, or all when no transaction is named.
func transfers(blocks []chain.Block, txID string) []placed {
	var found []placed
	for _, block := range blocks {
		for _, transfer := range block.Transfers {
			if txID == "" || transfer.TxID == txID {
				found = append(found, placed{transfer, block.Ref})
			}
		}
	}
	return found
}

// wantTransfer returns the only transfer of a transaction and checks its contents.
func (d *harness) wantTransfer(blocks []chain.Block, txID string, want chain.Payment) placed {
	d.t.Helper()
	found := transfers(blocks, txID)
	if len(found) != 1 {
		d.t.Fatalf("got %d transfers in %s, want 1: %+v", len(found), txID, found)
	}
	d.wantPayment(found[0], want)
	return found[0]
}

func (d *harness) wantPayment(got placed, want chain.Payment) {
	d.t.Helper()
	if got.Address != want.Address || got.Amount != want.Amount || got.Contract != want.Contract {
		d.t.Fatalf("transfer is %+v, want %+v", got.Transfer, want)
	}
	if got.Inferred || got.CountsFrom > got.in.Height {
		d.t.Fatalf("a plain payment in %v is inferred or counts later, want neither: %+v", got.in, got.Transfer)
	}
	utxo := ""
	if d.capabilities.Model == chain.UTXOModel {
		utxo = fmt.Sprintf("%s:%d", got.TxID, got.Output)
	}
	if got.UTXO != utxo {
		d.t.Fatalf("transfer's UTXO is %q, want %q", got.UTXO, utxo)
	}
}

// wantIncluded returns the only inclusion of a transaction and its block.
func (d *harness) wantIncluded(blocks []chain.Block, txID string) (chain.Inclusion, chain.BlockRef) {
	d.t.Helper()
	var found []chain.Inclusion
	var in chain.BlockRef
	for _, block := range blocks {
		for _, external := range block.ExternalSpends {
			d.t.Fatalf("our own transaction is reported as an external spend: %+v", external)
		}
		for _, inclusion := range block.Included {
			if inclusion.TxID == txID {
				found, in = append(found, inclusion), block.Ref
			}
		}
	}
	if len(found) != 1 {
		d.t.Fatalf("%s is included %d times in %d blocks, want 1", txID, len(found), len(blocks))
	}
	return found[0], in
}

// wantAbsent checks that the chain does not have a transaction.
func (d *harness) wantAbsent(txID string) {
	d.t.Helper()
	_, err := d.chain.Find(d.ctx, txID)
	wantError(d.t, err, chain.ErrNoBlock, "find "+txID)
}
