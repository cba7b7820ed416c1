package bitcoin

import (
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Network holds the parameters in which Bitcoin and chains like it differ.
type Network struct {
	Family     bursar.Family
	HRP        string        // human-readable part of bech32 addresses, before the 1
	PubKeyHash byte          // version of P2PKH addresses
	ScriptHash []byte        // accepted versions of P2SH addresses; the first is the canonical one
	Genesis    string        // hash of block 0, which identifies a node's chain; empty: any
	DustRate   uint64        // dust limit in satoshi per 1,000 vbytes (Bitcoin Core, DUST_RELAY_TX_FEE)
	Interval   time.Duration // mean time between blocks

	// The defaults of Config's fields of the same names. BumpAfter is 0 if nodes relay no replacements.
	Confirmations int
	BumpAfter     uint64

	mweb bool // blocks may have an extension, as Litecoin's do
}

// Bitcoin returns one of Bitcoin's networks: "main", "testnet4", "signet" or "regtest". The values are from Bitcoin
// Core's kernel/chainparams.cpp.
func Bitcoin(name string) (Network, error) {
	n := Network{
		Family:        chain.FamilyBitcoin,
		PubKeyHash:    0x6f,
		ScriptHash:    []byte{0xc4},
		DustRate:      3000,
		Interval:      10 * time.Minute,
		Confirmations: bitcoinConfirmations,
		BumpAfter:     6,
	}
	switch name {
	case "main":
		n.HRP, n.PubKeyHash, n.ScriptHash = "bc", 0x00, []byte{0x05}
		n.Genesis = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
	case "testnet4":
		n.HRP = "tb"
		n.Genesis = "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043"
	case "signet":
		n.HRP = "tb"
		n.Genesis = "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"
	case "regtest":
		n.HRP = "bcrt"
		n.Genesis = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
	default:
		return Network{}, fmt.Errorf("bitcoin has no network %q", name)
	}
	return n, nil
}

// Litecoin returns one of Litecoin's networks: "main", "testnet4" or "regtest". The values are from Litecoin Core's
// chainparams.cpp and policy/policy.h. Addresses of its extension blocks (ltcmweb1…) cannot be paid.
//
// Nodes accept no replacements unless they run
// with -mempoolreplacement=1, so nothing is replaced by default.
func Litecoin(name string) (Network, error) {
	n := Network{
		Family:        chain.FamilyLitecoin,
		PubKeyHash:    0x6f,
		ScriptHash:    []byte{0x3a, 0xc4},
		DustRate:      30_000,
		Interval:      150 * time.Second,
		Confirmations: litecoinConfirmations,
		mweb:          true,
	}
	switch name {
	case "main":
		n.HRP, n.PubKeyHash, n.ScriptHash = "ltc", 0x30, []byte{0x32, 0x05}
		n.Genesis = "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2"
	case "testnet4":
		n.HRP = "tltc"
		n.Genesis = "4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0"
	case "regtest":
		n.HRP = "rltc"
		n.Genesis = "530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9"
	default:
		return Network{}, fmt.Errorf("litecoin has no network %q", name)
	}
	return n, nil
}

// readTransaction parses one complete transaction as it is serialized in blocks.
func (n Network) readTransaction(raw []byte) (transaction, error) {
	return (&reader{raw: raw, mweb: n.mweb}).onlyTransaction()
}
