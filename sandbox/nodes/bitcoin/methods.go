package bitcoin

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// allMethods are the calls that the node answers, with bitcoind's names and parameters.
func (n *Node) allMethods() map[string]method {
	all := map[string]method{}
	for _, group := range [][]method{n.chainMethods(), n.transactionMethods(), n.mempoolMethods(), n.controlMethods()} {
		for _, m := range group {
			name, _, _ := strings.Cut(m.usage, " ")
			all[name] = m
		}
	}
	return all
}

func (n *Node) chainMethods() []method {
	return []method{
		{"getblockchaininfo", nil, 0, n.getBlockchainInfo},
		{"getblockcount", nil, 0, n.getBlockCount},
		{"getbestblockhash", nil, 0, n.getBestBlockHash},
		{"getblockhash height", []string{"height"}, 1, n.getBlockHash},
		{"getblockheader \"blockhash\" ( verbose )", []string{"blockhash", "verbose"}, 1, n.getBlockHeader},
		{"getblock \"blockhash\" ( verbosity )", []string{"blockhash", "verbosity|verbose"}, 1, n.getBlock},
		{"getchaintips", nil, 0, n.getChainTips},
		{"getdifficulty", nil, 0, n.getDifficulty},
		{"gettxout \"txid\" n ( include_mempool )", []string{"txid", "n", "include_mempool"}, 2, n.getTxOut},
		{"scantxoutset \"action\" ( [scanobjects,...] )", []string{"action", "scanobjects"}, 1, n.scanTxOutSet},
		{"invalidateblock \"blockhash\"", []string{"blockhash"}, 1, n.invalidateBlock},
		{"reconsiderblock \"blockhash\"", []string{"blockhash"}, 1, n.reconsiderBlock},
		{"submitblock \"hexdata\" ( \"dummy\" )", []string{"hexdata", "dummy"}, 1, n.submitBlock},
		{"generatetoaddress nblocks \"address\" ( maxtries )", []string{"nblocks", "address", "maxtries"}, 2,
			n.generateToAddress},
		{"generateblock \"output\" [\"rawtx/txid\",...] ( submit )", []string{"output", "transactions", "submit"}, 2,
			n.generateBlock},
	}
}

func (n *Node) transactionMethods() []method {
	return []method{
		{"getrawtransaction \"txid\" ( verbosity \"blockhash\" )", []string{"txid", "verbosity|verbose", "blockhash"}, 1,
			n.getRawTransaction},
		{"decoderawtransaction \"hexstring\" ( iswitness )", []string{"hexstring", "iswitness"}, 1, n.decodeRawTransaction},
		{"sendrawtransaction \"hexstring\" ( maxfeerate maxburnamount )",
			[]string{"hexstring", "maxfeerate", "maxburnamount"}, 1, n.sendRawTransaction},
		{"testmempoolaccept [\"rawtx\",...] ( maxfeerate )", []string{"rawtxs", "maxfeerate"}, 1, n.testMempoolAccept},
	}
}

func (n *Node) mempoolMethods() []method {
	return []method{
		{"getmempoolinfo", nil, 0, n.getMempoolInfo},
		{"getmempoolentry \"txid\"", []string{"txid"}, 1, n.getMempoolEntry},
		{"getrawmempool ( verbose mempool_sequence )", []string{"verbose", "mempool_sequence"}, 0, n.getRawMempool},
		{"estimatesmartfee conf_target ( \"estimate_mode\" )", []string{"conf_target", "estimate_mode"}, 1,
			n.estimateSmartFee},
	}
}

func (n *Node) controlMethods() []method {
	return []method{
		{"getnetworkinfo", nil, 0, n.getNetworkInfo},
		{"getconnectioncount", nil, 0, n.getConnectionCount},
		{"getindexinfo ( \"index_name\" )", []string{"index_name"}, 0, n.getIndexInfo},
		{"getzmqnotifications", nil, 0, n.getZMQNotifications},
		{"validateaddress \"address\"", []string{"address"}, 1, n.validateAddress},
		{"uptime", nil, 0, n.uptime},
		{"ping", nil, 0, n.ping},
		{"help ( \"command\" )", []string{"command"}, 0, n.help},
	}
}

func (n *Node) help(_ context.Context, p params) (any, error) {
	if !p.has(0) {
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(n.methods)) {
			lines = append(lines, n.methods[name].usage)
		}
		return strings.Join(lines, "\n"), nil
	}
	name, err := p.text(0)
	if err != nil {
		return nil, err
	}
	m, ok := n.methods[name]
	if !ok {
		return "help: unknown command: " + name, nil
	}
	return m.usage + "\n", nil
}
