package bitcoin

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// txJSON is a transaction in the form of bitcoind's TxToUniv. The last fields belong to getrawtransaction.
type txJSON struct {
	InActiveChain *bool      `json:"in_active_chain,omitempty"`
	TxID          string     `json:"txid"`
	Hash          string     `json:"hash"`
	Version       uint32     `json:"version"`
	Size          int        `json:"size"`
	VSize         int64      `json:"vsize"`
	Weight        int64      `json:"weight"`
	LockTime      uint32     `json:"locktime"`
	Vin           []vinJSON  `json:"vin"`
	Vout          []voutJSON `json:"vout"`
	Fee           *satoshi   `json:"fee,omitempty"`
	Hex           string     `json:"hex,omitempty"`
	BlockHash     string     `json:"blockhash,omitempty"`
	Confirmations *int32     `json:"confirmations,omitempty"`
	Time          int64      `json:"time,omitempty"`
	BlockTime     int64      `json:"blocktime,omitempty"`
}

type vinJSON struct {
	Coinbase  string       `json:"coinbase,omitempty"`
	TxID      string       `json:"txid,omitempty"`
	Vout      *uint32      `json:"vout,omitempty"`
	ScriptSig *sigJSON     `json:"scriptSig,omitempty"`
	Witness   []string     `json:"txinwitness,omitempty"`
	Prevout   *prevoutJSON `json:"prevout,omitempty"`
	Sequence  uint32       `json:"sequence"`
}

type sigJSON struct {
	Asm string `json:"asm"`
	Hex string `json:"hex"`
}

type prevoutJSON struct {
	Generated bool       `json:"generated"`
	Height    int32      `json:"height"`
	Value     satoshi    `json:"value"`
	Script    scriptJSON `json:"scriptPubKey"`
}

type voutJSON struct {
	Value  satoshi    `json:"value"`
	N      int        `json:"n"`
	Script scriptJSON `json:"scriptPubKey"`
}

type scriptJSON struct {
	Asm     string `json:"asm"`
	Desc    string `json:"desc"`
	Hex     string `json:"hex"`
	Address string `json:"address,omitempty"`
	Type    string `json:"type"`
}

// describe shows a transaction without its block.
func (n *Node) describe(tx *wire.MsgTx) *txJSON {
	t := btcutil.NewTx(tx)
	d := &txJSON{
		TxID: tx.TxHash().String(), Hash: tx.WitnessHash().String(), Version: uint32(tx.Version), Size: tx.SerializeSize(),
		VSize: mempool.GetTxVirtualSize(t), Weight: blockchain.GetTransactionWeight(t), LockTime: tx.LockTime,
		Hex: hex.EncodeToString(encodeTx(tx)),
	}
	for _, in := range tx.TxIn {
		v := vinJSON{Sequence: in.Sequence}
		if blockchain.IsCoinBaseTx(tx) {
			v.Coinbase = hex.EncodeToString(in.SignatureScript)
		} else {
			v.TxID, v.Vout = in.PreviousOutPoint.Hash.String(), &in.PreviousOutPoint.Index
			v.ScriptSig = &sigJSON{disassemble(in.SignatureScript, true), hex.EncodeToString(in.SignatureScript)}
		}
		for _, item := range in.Witness {
			v.Witness = append(v.Witness, hex.EncodeToString(item))
		}
		d.Vin = append(d.Vin, v)
	}
	for i, out := range tx.TxOut {
		d.Vout = append(d.Vout, voutJSON{satoshi(out.Value), i, n.describeScript(out.PkScript)})
	}
	return d
}

// addSpent adds the fee and, if asked, the outputs that were spent.
func (d *txJSON) addSpent(n *Node, spent []*utxo, prevouts bool) {
	var fee satoshi
	for i, c := range spent {
		fee += satoshi(c.value)
		if prevouts {
			d.Vin[i].Prevout = &prevoutJSON{c.coinbase, c.height, satoshi(c.value), n.describeScript(c.script)}
		}
	}
	for _, out := range d.Vout {
		fee -= out.Value
	}
	d.Fee = &fee
}

// describeScript is ScriptToUniv of bitcoind.
func (n *Node) describeScript(script []byte) scriptJSON {
	return scriptJSON{
		Asm: disassemble(script, false), Desc: n.descriptor(script), Hex: hex.EncodeToString(script),
		Address: scriptAddress(script, n.params), Type: scriptType(script),
	}
}

func scriptType(script []byte) string {
	class := txscript.GetScriptClass(script)
	if _, _, ok := witnessProgram(script); ok && class == txscript.NonStandardTy {
		return txscript.WitnessUnknownTy.String()
	}
	return class.String()
}

// disassemble is ScriptToAsmStr of bitcoind: short pushes as numbers, others as hex, and the hash type of signatures
// by name if asked.
func disassemble(script []byte, signatures bool) string {
	var words []string
	tokens := txscript.MakeScriptTokenizer(0, script)
	for tokens.Next() {
		data := tokens.Data()
		switch {
		case tokens.Opcode() > txscript.OP_PUSHDATA4:
			name, err := txscript.DisasmString([]byte{tokens.Opcode()})
			if err != nil {
				name = "[error]"
			}
			words = append(words, name)
		case len(data) <= 4:
			words = append(words, scriptNumber(data))
		default:
			words = append(words, pushedData(data, signatures))
		}
	}
	if tokens.Err() != nil {
		words = append(words, "[error]")
	}
	return strings.Join(words, " ")
}

// scriptNumber decodes CScriptNum: little endian, the sign in the top bit.
func scriptNumber(data []byte) string {
	if len(data) == 0 {
		return "0"
	}
	var v int64
	for i, b := range data {
		v |= int64(b) << (8 * i)
	}
	if top := data[len(data)-1]; top&0x80 != 0 {
		v = -(v &^ (0x80 << (8 * (len(data) - 1))))
	}
	return strconv.FormatInt(v, 10)
}

func pushedData(data []byte, signatures bool) string {
	names := map[byte]string{1: "ALL", 2: "NONE", 3: "SINGLE", 0x81: "ALL|ANYONECANPAY", 0x82: "NONE|ANYONECANPAY",
		0x83: "SINGLE|ANYONECANPAY"}
	last := len(data) - 1
	if name, ok := names[data[last]]; ok && signatures && isSignature(data) {
		return fmt.Sprintf("%x[%s]", data[:last], name)
	}
	return hex.EncodeToString(data)
}

// isSignature distinguishes a DER signature with its hash type from other data by its outer shape (BIP 66).
func isSignature(data []byte) bool {
	return len(data) >= 9 && len(data) <= 73 && data[0] == 0x30 && int(data[1]) == len(data)-3 && data[2] == 0x02
}
