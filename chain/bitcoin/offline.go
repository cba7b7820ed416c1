package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin/descriptor"
	"github.com/bursar/bursar/chain/bitcoin/psbt"
)

var _ chain.OfflineBuilder = (*Chain)(nil)

// errCold is wrapped by errors of transactions from a cold wallet that are not as they must be.
var errCold = errors.New("not a transaction from this cold wallet")

// coldTx is a transaction from a cold wallet that was read and proven.
type coldTx struct {
	packet *psbt.Packet
	inputs []coldInput
	change int // the number of the output that returns to the wallet; -1: none
	size   uint64
	fee    uint64
}

// coldInput is an input with the output that it spends.
type coldInput struct {
	output descriptor.Output
	value  uint64
	digest []byte
}

// readCold reads a PSBT and proves what it says:
//
//   - each previous transaction is there whole, and its hash is the one that the input names (BIP 174 would do with the
//     output alone, whose amount nothing proves: CVE-2020-14199);
//   - the output that is spent has the script of one of the wallet's addresses, made from the descriptor here, and the
//     witness script of the packet is that address's;
//   - one output at most returns to the wallet, to an address that it spends from;
//   - signatures commit to all inputs and outputs (SIGHASH_ALL), and each is by its key.
func (c *Chain) readCold(wallet bursar.ColdWallet, data []byte) (*coldTx, error) {
	d, err := c.descriptorOf(wallet)
	if err != nil {
		return nil, err
	}
	p, err := psbt.Parse(data)
	if err != nil {
		return nil, err
	}
	t := &coldTx{packet: p, change: -1}
	if err := t.plain(); err != nil {
		return nil, err
	}
	known, err := addressesOf(d, len(wallet.Addresses))
	if err != nil {
		return nil, err
	}
	for i := range p.Inputs {
		input, err := c.coldInput(wallet, known, p, i)
		if err != nil {
			return nil, fmt.Errorf("%w: input %d: %w", errCold, i, err)
		}
		t.inputs = append(t.inputs, input)
	}
	if err := t.outputs(d); err != nil {
		return nil, err
	}
	return t, t.signatures()
}

// plain refuses what no transaction from a cold wallet has.
func (t *coldTx) plain() error {
	tx := t.packet.Tx
	if tx.Version != txVersion || tx.LockTime != 0 || len(tx.TxIn) == 0 || len(tx.TxIn) > maxColdInputs ||
		len(tx.TxOut) == 0 || len(tx.TxOut) > 2 {
		return fmt.Errorf("%w: version %d, lock time %d, %d inputs, %d outputs", errCold, tx.Version, tx.LockTime,
			len(tx.TxIn), len(tx.TxOut))
	}
	seen := map[wire.OutPoint]bool{}
	for i, in := range tx.TxIn {
		if in.Sequence != txSequence || seen[in.PreviousOutPoint] {
			return fmt.Errorf("%w: input %d has another sequence, or occurs twice", errCold, i)
		}
		seen[in.PreviousOutPoint] = true
	}
	return nil
}

// coldInput proves what an input spends.
func (c *Chain) coldInput(wallet bursar.ColdWallet, known coldAddresses, p *psbt.Packet, i int) (in coldInput,
	err error) {
	fields, from := p.Inputs[i], p.Tx.TxIn[i].PreviousOutPoint
	for _, kind := range []byte{psbt.InRedeemScript, psbt.InFinalScript, psbt.InFinalWitness} {
		if fields.Get(kind) != nil {
			return in, fmt.Errorf("the transaction has a field of type %d: combine it with the bundle first", kind)
		}
	}
	if kind := fields.Get(psbt.InSigHash); kind != nil && binary.LittleEndian.Uint32(kind) != uint32(txscript.SigHashAll) {
		return in, fmt.Errorf("the transaction's signatures would commit to less than everything: type %x", kind)
	}
	previous := fields.Get(psbt.InPrevious)
	if body, err := c.PreviousOf(previous); err == nil {
		previous = body
	}
	id, outputs, err := c.ReadPrevious(previous, from.Index)
	if err != nil || id != from.Hash.String() {
		return in, fmt.Errorf("nothing proves what it holds: its previous transaction is %.64q, not %s (%w)", id, from.Hash,
			errors.Join(err, errPrevious))
	}
	spent, found := outputs[from.Index]
	if !found {
		return in, fmt.Errorf("%s has no output %d", id, from.Index)
	}
	base, err := c.network.base(spent.Script)
	if err != nil || !wallet.Has(base) {
		return in, fmt.Errorf("the transaction spends from %.100q, which is not listed as the wallet's", base)
	}
	if in.output, err = known.of(spent.Script); err != nil {
		return in, err
	}
	if witness := fields.Get(psbt.InWitnessScript); witness != nil && !bytes.Equal(witness, in.output.Witness) {
		return in, errors.New("the input's witness script is not the wallet's")
	}
	in.value, _ = spent.Amount.Uint64() // of an output
	script := in.output.Witness
	if script == nil {
		script = keyHashScript([sizeKeyHash]byte(in.output.Script[2:]))
	}
	in.digest, err = txscript.CalcWitnessSigHash(script, sigHashes(p.Tx), txscript.SigHashAll, p.Tx, i, int64(in.value))
	return in, err
}

// outputs finds the change and computes fee and size.
func (t *coldTx) outputs(d *descriptor.Descriptor) error {
	var in, out uint64
	own := map[string]bool{}
	for _, i := range t.inputs {
		in += i.value
		own[string(i.output.Script)] = true
	}
	var size uint64
	for n, o := range t.packet.Tx.TxOut {
		if o.Value <= 0 || o.Value > maxMoney {
			return fmt.Errorf("%w: output %d has the value %d", errCold, n, o.Value)
		}
		out += uint64(o.Value)
		size += outputSize(o.PkScript)
		if !own[string(o.PkScript)] {
			continue
		}
		if t.change >= 0 {
			return fmt.Errorf("%w: two outputs return to the wallet", errCold)
		}
		t.change = n
	}
	if in < out || in > maxMoney {
		return fmt.Errorf("%w: its inputs hold %d and its outputs pay %d", errCold, in, out)
	}
	t.fee, t.size = in-out, coldSize(d, len(t.inputs), len(t.packet.Tx.TxOut), size)
	return nil
}

// signatures checks every signature that is there.
func (t *coldTx) signatures() error {
	for i, in := range t.inputs {
		for _, f := range t.packet.Inputs[i].Of(psbt.InSignature) {
			if !in.has(f.Key[1:]) {
				return fmt.Errorf("%w: input %d has a signature by %x, which is not a key of the wallet", errCold, i, f.Key[1:])
			}
			if err := verifyCold(f.Key[1:], f.Value, in.digest); err != nil {
				return fmt.Errorf("%w: input %d, key %x: %w", errCold, i, f.Key[1:], err)
			}
		}
	}
	return nil
}

func (in coldInput) has(public []byte) bool {
	for _, k := range in.output.Keys {
		if bytes.Equal(k.Public, public) {
			return true
		}
	}
	return false
}

// verifyCold checks a signature with its hash type, in the one form that nodes relay: strict DER, S in the lower half.
func verifyCold(public, signature, digest []byte) error {
	key, err := btcec.ParsePubKey(public)
	if err != nil {
		return err
	}
	n := len(signature) - 1
	if n < 8 || signature[n] != byte(txscript.SigHashAll) {
		return fmt.Errorf("%w: the signature does not commit to the whole transaction", errSignature)
	}
	parsed, err := ecdsa.ParseDERSignature(signature[:n])
	if err != nil {
		return err
	}
	s := parsed.S()
	if s.IsOverHalfOrder() || !bytes.Equal(parsed.Serialize(), signature[:n]) || !parsed.Verify(digest, key) {
		return errSignature
	}
	return nil
}

// ReadCold reads a PSBT (BIP 174) that pays from a wallet of the kind descriptor.
func (c *Chain) ReadCold(wallet bursar.ColdWallet, data []byte) (chain.ColdTx, error) {
	t, err := c.readCold(wallet, data)
	if err != nil {
		return chain.ColdTx{}, fmt.Errorf("read transaction from cold wallet %s: %w", wallet.Name, err)
	}
	d, err := c.descriptorOf(wallet)
	if err != nil {
		return chain.ColdTx{}, err
	}
	contents := chain.ColdTx{Fee: bursar.Units(t.fee), Weight: t.size}
	for i, out := range t.packet.Tx.TxOut {
		amount := bursar.Units(uint64(out.Value))
		if i == t.change {
			contents.Change = amount
			continue
		}
		base, err := c.network.base(out.PkScript)
		if err != nil {
			return chain.ColdTx{}, fmt.Errorf("output %d: %w", i, err)
		}
		contents.Payments = append(contents.Payments, chain.Payment{Address: bursar.Address{Base: base}, Amount: amount})
	}
	for i, in := range t.inputs {
		from := t.packet.Tx.TxIn[i].PreviousOutPoint
		contents.Reservations = append(contents.Reservations, utxoOf(from.Hash, from.Index))
		contents.Inputs = append(contents.Inputs, chain.ColdInput{Digest: in.digest, Need: d.Need(),
			Keys: c.network.coldKeys(in.output, t.packet.Inputs[i])})
	}
	return contents, nil
}

// coldKeys lists an output's keys. A seed of ours has those that are two steps below its account key.
func (n Network) coldKeys(out descriptor.Output, fields psbt.Map) (keys []chain.ColdKey) {
	for _, k := range out.Keys {
		one := chain.ColdKey{Public: k.Public,
			Signed: fields.Get(append([]byte{psbt.InSignature}, k.Public...)...) != nil}
		if len(k.Steps) == 2 {
			one.Key = chain.KeyRef{Family: n.Family, Branch: k.Steps[0], Index: k.Steps[1]}
		}
		keys = append(keys, one)
	}
	return keys
}
