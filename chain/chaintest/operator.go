package chaintest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// maxRead bounds a walk along the chain, so that an adapter that never reaches the tip fails a test and does not hang
// it.
const maxRead = 5000

// harness stands in for the service: it has the keys, follows the chain and keeps the UTXOs.
type harness struct {
	t            *testing.T
	ctx          context.Context
	chain        chain.Chain
	node         Node
	unit         bursar.Amount
	capabilities chain.Capabilities
	keys         Keys
	watch        *Watch
	cursor       chain.BlockRef
	utxos        []chain.UTXO
	source       map[string]chain.Source // by base
	nonces       map[string]uint64       // the next one, by base, once one is known
	numbers      bool                    // the chain has nonces
}

// newHarness starts at the chain's present head and watches the hot wallet.
func newHarness(t *testing.T, h Harness) *harness {
	t.Helper()
	capabilities := h.Chain.Capabilities()
	d := &harness{
		t: t, ctx: t.Context(), chain: h.Chain, node: h.Node, unit: h.Unit, capabilities: capabilities,
		keys: Keys{Curve: capabilities.Curve}, watch: NewWatch(),
		source: map[string]chain.Source{}, nonces: map[string]uint64{},
		numbers: factsOf(h).numbers,
	}
	d.own(chain.Hot(capabilities.Family))
	d.cursor = d.head().Latest
	return d
}

// own makes a key's address one of ours and watches it.
func (d *harness) own(ref chain.KeyRef) chain.Source {
	d.t.Helper()
	address, err := d.chain.Address(d.keys.Public(ref), 0)
	d.check(err, "address of %v", ref)
	source := chain.Source{Key: ref, Base: address.Base}
	d.source[source.Base] = source
	d.watch.Add(source.Base)
	return source
}

func (d *harness) hot() chain.Source {
	d.t.Helper()
	return d.own(chain.Hot(d.capabilities.Family))
}

// deposit returns the address of the wallet with an index and watches it.
func (d *harness) deposit(index uint32) bursar.Address {
	d.t.Helper()
	address := d.unwatched(index)
	if !d.capabilities.SharedAddress {
		d.own(chain.KeyRef{Family: d.capabilities.Family, Branch: chain.DepositBranch, Index: index})
	}
	return address
}

// unwatched returns the address of the wallet with an index without watching it.
func (d *harness) unwatched(index uint32) bursar.Address {
	d.t.Helper()
	ref, memo := chain.KeyRef{Family: d.capabilities.Family, Branch: chain.DepositBranch, Index: index}, uint32(0)
	if d.capabilities.SharedAddress {
		ref, memo = chain.Hot(d.capabilities.Family), index+1
	}
	address, err := d.chain.Address(d.keys.Public(ref), memo)
	d.check(err, "address %d", index)
	return address
}

// outsider returns a payable address that is not ours.
func (d *harness) outsider() bursar.Address {
	d.t.Helper()
	text := d.node.Outsider(d.t)
	address, err := d.chain.ParseAddress(text)
	d.check(err, "parse the outsider's address %q", text)
	return address
}

func (d *harness) head() chain.Head {
	d.t.Helper()
	head, err := d.chain.Head(d.ctx)
	d.check(err, "head")
	return head
}

// read follows the chain from the cursor to the tip and keeps the UTXOs that it finds.
func (d *harness) read() []chain.Block {
	d.t.Helper()
	blocks := d.follow(d.cursor, 100, d.watch)
	for _, block := range blocks {
		d.cursor = block.Ref
		for _, transfer := range block.Transfers {
			if transfer.UTXO != "" && !slices.ContainsFunc(d.utxos, func(c chain.UTXO) bool {
				return c.Outpoint == transfer.UTXO
			}) {
				d.utxos = append(d.utxos, chain.UTXO{
					Outpoint: transfer.UTXO, Source: d.source[transfer.Address.Base], Amount: transfer.Amount,
				})
			}
		}
	}
	return blocks
}

// follow walks from a block to the tip in steps of limit and checks that the blocks are linked.
func (d *harness) follow(from chain.BlockRef, limit int, watch chain.Watch) []chain.Block {
	d.t.Helper()
	var all []chain.Block
	for len(all) < maxRead {
		blocks, err := d.chain.After(d.ctx, from, limit, watch)
		d.check(err, "blocks after %v", from)
		if len(blocks) == 0 {
			return all
		}
		if len(blocks) > limit {
			d.t.Fatalf("After with limit %d returned %d blocks", limit, len(blocks))
		}
		for _, block := range blocks {
			if block.Parent != from.Hash || block.Ref.Height <= from.Height || block.Ref.Hash == "" {
				d.t.Fatalf("block %v with parent %q does not follow %v", block.Ref, block.Parent, from)
			}
			from = block.Ref
		}
		all = append(all, blocks...)
	}
	d.t.Fatalf("the tip was not reached after %d blocks", maxRead)
	return nil
}

// fund pays amounts to an address of ours and returns once they are final and read.
func (d *harness) fund(base string, amounts ...bursar.Amount) {
	d.t.Helper()
	for _, amount := range amounts {
		d.node.Pay(d.t, chain.Payment{Address: bursar.Address{Base: base}, Amount: amount})
	}
	d.settle()
}

// settle mines the waiting transactions until they are final, and reads them.
func (d *harness) settle() []chain.Block {
	d.t.Helper()
	d.node.Mine(d.t, 1)
	d.node.Finalize(d.t)
	return d.read()
}

// request requests payments from the hot wallet, with a fee limit far above what they should cost.
func (d *harness) request(payments ...chain.Payment) chain.TxRequest {
	d.t.Helper()
	fee := d.quote(payments[0])
	maxFee, err := fee.Mul(20 * uint64(len(payments)))
	d.check(err, "fee limit")
	return d.from(d.hot(), chain.TxRequest{Kind: chain.KindWithdrawal, Payments: payments, MaxFee: maxFee})
}

// from completes a request with its payer.
func (d *harness) from(payer chain.Source, request chain.TxRequest) chain.TxRequest {
	request.ID = bursar.ID{15: byte(len(d.utxos) + 1)}
	if d.capabilities.Model == chain.UTXOModel {
		request.Change = d.hot()
		for _, utxo := range d.utxos {
			if utxo.Source == payer {
				request.UTXOs = append(request.UTXOs, utxo)
			}
		}
		return request
	}
	request.From = payer
	if next, known := d.nonces[payer.Base]; known {
		request.Nonce = &next
	}
	return request
}

func (d *harness) quote(payment chain.Payment) bursar.Amount {
	d.t.Helper()
	fee, err := d.chain.Quote(d.ctx, payment)
	d.check(err, "quote %v", payment)
	if fee.IsZero() {
		d.t.Fatalf("quote of %v is 0, want a fee", payment)
	}
	return fee
}

// build builds the transaction of a request and takes its reservations from the UTXOs and nonces.
func (d *harness) build(request chain.TxRequest) chain.UnsignedTx {
	d.t.Helper()
	unsigned, err := d.chain.Build(d.ctx, request)
	d.check(err, "build")
	for _, resource := range unsigned.Reservations {
		d.utxos = slices.DeleteFunc(d.utxos, func(c chain.UTXO) bool { return c.Outpoint == resource })
		base, number, _ := strings.Cut(resource, "/")
		if d.capabilities.Model == chain.UTXOModel {
			continue
		}
		nonce, err := strconv.ParseUint(number, 10, 64)
		if d.numbers != (err == nil) {
			d.t.Fatalf("reservation %q, but nonces are expected: %v (see Harness.Unnumbered)", resource, d.numbers)
		}
		if d.numbers {
			d.nonces[base] = nonce + 1
		}
	}
	return unsigned
}

// sign signs as a signer does and watches for the transaction as ours.
func (d *harness) sign(unsigned chain.UnsignedTx) chain.SignedTx {
	d.t.Helper()
	tx, err := d.chain.Assemble(unsigned, d.signatures(unsigned))
	d.check(err, "assemble")
	if tx.TxID == "" || len(tx.Raw) == 0 {
		d.t.Fatalf("assembled transaction %q has %d bytes, want an id and bytes", tx.TxID, len(tx.Raw))
	}
	if reader, able := d.chain.(interface {
		UnsignedTxID(unsigned []byte) (string, error)
	}); able { // the signer's log names the transaction before it is signed
		id, err := reader.UnsignedTxID(unsigned.Bytes)
		d.check(err, "read the ID of the unsigned transaction")
		if id != "" && id != tx.TxID {
			d.t.Fatalf("the unsigned transaction is said to be %s, and is %s once signed", id, tx.TxID)
		}
	}
	d.watch.AddSent(tx.TxID)
	return tx
}

func (d *harness) signatures(unsigned chain.UnsignedTx) [][]byte {
	d.t.Helper()
	var signatures [][]byte
	for _, input := range d.inspect(unsigned.Bytes).Inputs {
		signatures = append(signatures, d.keys.Sign(input.Source.Key, input.Digest))
	}
	return signatures
}

func (d *harness) inspect(unsigned []byte) chain.Contents {
	d.t.Helper()
	contents, err := d.chain.Inspect(unsigned)
	d.check(err, "inspect")
	return contents
}

// send builds, signs and broadcasts.
func (d *harness) send(request chain.TxRequest) (chain.UnsignedTx, chain.SignedTx) {
	d.t.Helper()
	unsigned := d.build(request)
	tx := d.sign(unsigned)
	d.broadcast(tx)
	return unsigned, tx
}

func (d *harness) broadcast(tx chain.SignedTx) {
	d.t.Helper()
	d.check(d.chain.Broadcast(d.ctx, tx), "broadcast %s", tx.TxID)
}

// balance returns how much of the native asset an address holds, as the node says.
func (d *harness) balance(base string) bursar.Amount {
	d.t.Helper()
	return d.node.Balance(d.t, base)
}
