package bitcoin

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
	"github.com/bursar/bursar/chain/bitcoin/psbt"
)

// Bounds of a transaction from a cold wallet: devices show and sign a hundred inputs within minutes.
const (
	maxColdInputs   = 100
	coinbaseMatures = 100 // blocks
)

// CheckCold checks a descriptor, and that each address is one of its first: of as many in each row as there are
// addresses.
func (c *Chain) CheckCold(wallet bursar.ColdWallet) error {
	d, err := c.descriptorOf(wallet)
	if err != nil {
		return err
	}
	known, err := addressesOf(d, len(wallet.Addresses))
	if err != nil {
		return err
	}
	for _, base := range wallet.Addresses {
		script, err := c.network.script(base)
		if err == nil {
			_, err = known.of(script)
		}
		if err != nil {
			return fmt.Errorf("cold wallet %s: address %.100q: %w", wallet.Name, base, err)
		}
	}
	return nil
}

func (c *Chain) descriptorOf(wallet bursar.ColdWallet) (*descriptor.Descriptor, error) {
	if wallet.Kind != bursar.ColdDescriptor || wallet.Chain != c.cfg.ID {
		return nil, fmt.Errorf("%w: %s of %s is of kind %s, want a descriptor of %s", errCold, wallet.Name, wallet.Chain,
			wallet.Kind, c.cfg.ID)
	}
	return descriptor.Parse(wallet.Descriptor)
}

// coldAddresses are outputs of a descriptor by their scripts.
type coldAddresses map[string]descriptor.Output

// addressesOf derives the first addresses of each row, once for all that is compared with them: each takes elliptic
// curve operations for every key.
func addressesOf(d *descriptor.Descriptor, first int) (coldAddresses, error) {
	known := coldAddresses{}
	for index := range uint32(first) {
		for branch := range d.Branches() {
			out, err := d.At(branch, index)
			if err != nil {
				return nil, err
			}
			known[string(out.Script)] = out
		}
	}
	return known, nil
}

// of finds the address of a script.
func (a coldAddresses) of(script []byte) (descriptor.Output, error) {
	out, found := a[string(script)]
	if !found {
		return out, fmt.Errorf("%w: none of the first %d addresses of the descriptor", errCold, len(a))
	}
	return out, nil
}

// coldSize returns the maximum virtual size of a signed transaction from a descriptor.
func coldSize(d *descriptor.Descriptor, inputs, outputs int, outputBytes uint64) uint64 {
	if d.Keys() == 1 && d.Need() == 1 && !d.Scripted() {
		return vbytes(inputs, outputs, outputBytes)
	}
	script := uint64(3 + (sizeKey+1)*d.Keys())
	length := uint64(1)
	if script > 252 {
		length = 3
	}
	witness := 1 + 1 + uint64(d.Need())*(1+72) + length + script
	weight := overheadWeight + 4*(countSize(inputs)+countSize(outputs)+outputBytes) + uint64(inputs)*(4*41+witness)
	return (weight + 3) / 4
}

// coldUTXO is an output of a cold wallet.
type coldUTXO struct {
	from   outpoint
	value  uint64
	height uint64
	output descriptor.Output
}

// BuildCold builds a PSBT (BIP 174, version 0): the largest outputs of the wallet first, change to the address of the
// first of them. It carries the whole transactions that made the outputs, so that each signer can prove the amounts,
// and for each key its origin. It scans all unspent outputs, which takes a node a minute or more.
func (c *Chain) BuildCold(ctx context.Context, request chain.ColdRequest) (_ []byte, err error) {
	defer chain.Wrap(&err, "build from cold wallet %s", request.Wallet.Name)
	d, err := c.descriptorOf(request.Wallet)
	if err != nil {
		return nil, err
	}
	to, err := c.payable(request.Payment)
	if err != nil {
		return nil, err
	}
	now, err := c.rates(ctx)
	if err != nil {
		return nil, err
	}
	utxos, err := c.coldUTXOs(ctx, request.Wallet, d)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(utxos, func(a, b coldUTXO) int { // what is to be used up comes first
		return cmp.Compare(named(b, request.Uses), named(a, request.Uses))
	})
	tx, chosen, err := c.chooseCold(d, utxos, to, now.market, request.MaxFee)
	if err != nil {
		return nil, err
	}
	p := psbt.New(tx)
	for i, utxo := range chosen {
		previous, err := c.Previous(ctx, utxo.from.tx.String(), utxo.height)
		if err != nil {
			return nil, err
		}
		p.Inputs[i].Set([]byte{psbt.InPrevious}, previous)
		describe(&p.Inputs[i], psbt.InWitnessScript, psbt.InDerivation, utxo.output)
	}
	if len(tx.TxOut) > 1 {
		describe(&p.Outputs[1], psbt.OutWitnessScript, psbt.OutDerivation, chosen[0].output)
	}
	data, err := p.Encode()
	if err != nil {
		return nil, err
	}
	_, err = c.ReadCold(request.Wallet, data) // what cannot be evaluated is not given out: a node may have lied
	return data, err
}

// named returns 1 for an output that is among reservations, and 0 for another.
func named(utxo coldUTXO, reservations []string) int {
	if slices.Contains(reservations, utxoOf(utxo.from.tx, utxo.from.index)) {
		return 1
	}
	return 0
}

// describe adds what a device needs to know its keys.
func describe(m *psbt.Map, script, derivation byte, out descriptor.Output) {
	if out.Witness != nil {
		m.Set([]byte{script}, out.Witness)
	}
	for _, k := range out.Keys {
		m.Set(append([]byte{derivation}, k.Public...), psbt.Derivation(k.Fingerprint, k.Path))
	}
}

// coldUTXOs returns the unspent outputs at the wallet's addresses, the largest first.
func (c *Chain) coldUTXOs(ctx context.Context, wallet bursar.ColdWallet, d *descriptor.Descriptor) ([]coldUTXO, error) {
	var asked []string
	for _, base := range wallet.Addresses {
		asked = append(asked, "addr("+base+")")
	}
	s, err := c.scanner.Pin(ctx)
	if err != nil {
		return nil, err
	}
	var scan struct {
		Success bool   `json:"success"`
		Height  uint64 `json:"height"`
		Outputs []struct {
			TxID     string  `json:"txid"`
			Output   uint32  `json:"vout"`
			Script   string  `json:"scriptPubKey"`
			Amount   satoshi `json:"amount"`
			Height   uint64  `json:"height"`
			Coinbase bool    `json:"coinbase"`
		} `json:"unspents"`
	}
	if err := s.Call(ctx, "scantxoutset", []any{"start", asked}, &scan); err != nil {
		return nil, err
	}
	if !scan.Success {
		return nil, errors.New("the node did not finish its scan")
	}
	known, err := addressesOf(d, len(wallet.Addresses))
	if err != nil {
		return nil, err
	}
	var utxos []coldUTXO
	for _, o := range scan.Outputs {
		if o.Coinbase && o.Height+coinbaseMatures > scan.Height || o.Height+uint64(c.cfg.Confirmations) > scan.Height+1 {
			continue
		}
		id, err1 := chainhash.NewHashFromStr(o.TxID)
		script, err2 := hex.DecodeString(o.Script)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("unspent output of the node: %w", err)
		}
		out, err := known.of(script)
		if err != nil {
			return nil, err
		}
		utxos = append(utxos, coldUTXO{outpoint{*id, o.Output}, uint64(o.Amount), o.Height, out})
	}
	slices.SortFunc(utxos, func(a, b coldUTXO) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.from.String(), b.from.String()))
	})
	return utxos, nil
}

// chooseCold takes outputs until they pay the payment and the fee, and returns the transaction with them.
func (c *Chain) chooseCold(
	d *descriptor.Descriptor, utxos []coldUTXO, to output, market rate, limit bursar.Amount,
) (*wire.MsgTx, []coldUTXO, error) {
	tx := wire.NewMsgTx(txVersion)
	tx.AddTxOut(wire.NewTxOut(int64(to.value), to.script))
	var sum, fee uint64
	for i, utxo := range utxos {
		if i == maxColdInputs {
			return nil, nil, &chain.TooManyInputsError{Limit: maxColdInputs}
		}
		sum += utxo.value
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: utxo.from.tx, Index: utxo.from.index},
			Sequence: txSequence})
		change := utxos[0].output.Script
		fee = market.fee(coldSize(d, i+1, 2, outputSize(to.script)+outputSize(change)))
		if bare := market.fee(coldSize(d, i+1, 1, outputSize(to.script))); sum < to.value+fee+c.network.dust(change) {
			if sum < to.value+bare {
				continue
			}
			fee = sum - to.value // the rest is too little for an output
		} else {
			tx.AddTxOut(wire.NewTxOut(int64(sum-to.value-fee), change))
		}
		if limit.Less(bursar.Units(fee)) {
			return nil, nil, &chain.FeeLimitError{Fee: bursar.Units(fee), Limit: limit}
		}
		return tx, utxos[:i+1], nil
	}
	return nil, nil, &chain.NeedsFundsError{Missing: bursar.Units(to.value + fee).SubOrZero(bursar.Units(sum))}
}
