package bitcoin

import (
	"encoding/hex"
	"math"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// LitecoinParams are Litecoin's regtest with its own first block and address forms (Litecoin Core, chainparams.cpp),
// and with a halving every 840,000 blocks, as on its mainnet. Proof of work is SHA-256 instead of scrypt, and blocks
// have no extension (MWEB). A P2SH address has its newer form only. Set Config.DustRate to 30,000 and
// Config.NoReplacement to true as in Litecoin Core.
func LitecoinParams() *chaincfg.Params {
	p := chaincfg.RegressionNetParams
	p.Name, p.Net = "regtest", 0xdab5bffa
	p.GenesisBlock = litecoinGenesis()
	hash := p.GenesisBlock.BlockHash()
	p.GenesisHash = &hash
	p.SubsidyReductionInterval = 840_000
	p.Bech32HRPSegwit, p.PubKeyHashAddrID, p.ScriptHashAddrID, p.PrivateKeyID = "rltc", 0x6f, 0x3a, 0xef
	return &p
}

// litecoinGenesis is block 530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9.
func litecoinGenesis() *wire.MsgBlock {
	const headline = "NY Times 05/Oct/2011 Steve Jobs, Apple’s Visionary, Dies at 56"
	const key = "040184710fa689ad5023690c80f3a49c8f13f8d45b8c857fbcbc8bc4a8e4d3eb4b10f4d4604fa08dce601aaf0f470216fe1b51850b4acf21b179c45070ac7b03a9"
	pub, err := hex.DecodeString(key)
	if err != nil {
		panic("Litecoin's first key is not hexadecimal: " + key) // a constant of this function: never wrong
	}
	script := append([]byte{4, 0xff, 0xff, 0x00, 0x1d, 1, 4, byte(len(headline))}, headline...)
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&chainhash.Hash{}, math.MaxUint32), script, nil))
	pays := append([]byte{byte(len(pub))}, pub...)
	coinbase.AddTxOut(wire.NewTxOut(50e8, append(pays, txscript.OP_CHECKSIG)))
	root := coinbase.TxHash()
	block := wire.NewMsgBlock(wire.NewBlockHeader(1, &chainhash.Hash{}, &root, 0x207fffff, 0))
	block.Header.Timestamp = time.Unix(1296688602, 0)
	block.Transactions = []*wire.MsgTx{coinbase}
	return block
}
