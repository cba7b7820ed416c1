package bitcoin

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// netJSON describes a network for peers; none is reachable.
type netJSON struct {
	Name      string `json:"name"`
	Limited   bool   `json:"limited"`
	Reachable bool   `json:"reachable"`
	Proxy     string `json:"proxy"`
	Randomize bool   `json:"proxy_randomize_credentials"`
}

func (n *Node) getNetworkInfo(context.Context, params) (any, error) {
	var networks []netJSON
	for _, name := range []string{"ipv4", "ipv6", "onion", "i2p", "cjdns"} {
		networks = append(networks, netJSON{Name: name, Limited: true})
	}
	return struct {
		Version        int       `json:"version"`
		Subversion     string    `json:"subversion"`
		Protocol       int       `json:"protocolversion"`
		Services       string    `json:"localservices"`
		ServiceNames   []string  `json:"localservicesnames"`
		LocalRelay     bool      `json:"localrelay"`
		TimeOffset     int       `json:"timeoffset"`
		NetworkActive  bool      `json:"networkactive"`
		Connections    int       `json:"connections"`
		ConnectionsIn  int       `json:"connections_in"`
		ConnectionsOut int       `json:"connections_out"`
		Networks       []netJSON `json:"networks"`
		RelayFee       satoshi   `json:"relayfee"`
		IncrementalFee satoshi   `json:"incrementalfee"`
		Addresses      []string  `json:"localaddresses"`
		Warnings       []string  `json:"warnings"`
	}{
		Version: 290000, Subversion: n.cfg.UserAgent, Protocol: 70016, Services: "0000000000000009",
		ServiceNames: []string{"NETWORK", "WITNESS"},
		LocalRelay:   true, NetworkActive: true, Networks: networks, RelayFee: minRelayRate, IncrementalFee: minRelayRate,
		Addresses: []string{}, Warnings: []string{},
	}, nil
}

func (n *Node) getConnectionCount(context.Context, params) (any, error)  { return 0, nil }
func (n *Node) getZMQNotifications(context.Context, params) (any, error) { return []string{}, nil }
func (n *Node) ping(context.Context, params) (any, error)                { return nil, nil }

func (n *Node) uptime(context.Context, params) (any, error) {
	return int64(n.cfg.Now().Sub(n.started).Seconds()), nil
}

func (n *Node) getIndexInfo(_ context.Context, p params) (any, error) {
	type indexJSON struct {
		Synced bool  `json:"synced"`
		Height int64 `json:"best_block_height"`
	}
	name := "txindex"
	if p.has(0) {
		var err error
		if name, err = p.text(0); err != nil {
			return nil, err
		}
	}
	indexes := map[string]indexJSON{}
	if name == "txindex" || name == "" {
		indexes["txindex"] = indexJSON{true, n.Height()}
	}
	return indexes, nil
}

func (n *Node) validateAddress(_ context.Context, p params) (any, error) {
	text, err := p.text(0)
	if err != nil {
		return nil, err
	}
	script, err := addressScript(text, n.params)
	if err != nil {
		return struct {
			Valid     bool   `json:"isvalid"`
			Locations []int  `json:"error_locations"`
			Error     string `json:"error"`
		}{false, []int{}, err.Error()}, nil
	}
	answer := struct {
		Valid   bool   `json:"isvalid"`
		Address string `json:"address"`
		Script  string `json:"scriptPubKey"`
		Hash    bool   `json:"isscript"`
		Witness bool   `json:"iswitness"`
		Version *int   `json:"witness_version,omitempty"`
		Program string `json:"witness_program,omitempty"`
	}{Valid: true, Address: scriptAddress(script, n.params), Script: hex.EncodeToString(script),
		Hash: txscript.IsPayToScriptHash(script)}
	if txscript.IsPayToAnchorScript(script) {
		answer.Hash, answer.Witness = true, true
	} else if version, program, ok := witnessProgram(script); ok {
		answer.Witness, answer.Version, answer.Program = true, &version, hex.EncodeToString(program)
		answer.Hash = version <= 1 && len(program) == 32 // P2WSH and taproot commit to scripts
	}
	return answer, nil
}

func (n *Node) getTxOut(_ context.Context, p params) (any, error) {
	hash, err := p.hash(0, "txid")
	if err != nil {
		return nil, err
	}
	index, err := p.integer(1, 0)
	if err != nil {
		return nil, err
	}
	withPool, err := p.boolean(2, true)
	if err != nil {
		return nil, err
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	at := wire.OutPoint{Hash: hash, Index: uint32(index)}
	c := n.utxos.unspent[at]
	if withPool {
		c = n.output(at)
	}
	if index < 0 || c == nil || (withPool && n.pool.CheckSpend(at) != nil) {
		return nil, nil
	}
	confirmations := int32(0)
	if c.height != unconfirmedHeight {
		confirmations = n.tip().height - c.height + 1
	}
	return struct {
		Best          string     `json:"bestblock"`
		Confirmations int32      `json:"confirmations"`
		Value         satoshi    `json:"value"`
		Script        scriptJSON `json:"scriptPubKey"`
		Coinbase      bool       `json:"coinbase"`
	}{n.tip().hash.String(), confirmations, satoshi(c.value), n.describeScript(c.script), c.coinbase}, nil
}

// unspentJSON is one output that scantxoutset found.
type unspentJSON struct {
	TxID          string  `json:"txid"`
	Vout          uint32  `json:"vout"`
	Script        string  `json:"scriptPubKey"`
	Desc          string  `json:"desc"`
	Amount        satoshi `json:"amount"`
	Coinbase      bool    `json:"coinbase"`
	Height        int32   `json:"height"`
	BlockHash     string  `json:"blockhash"`
	Confirmations int32   `json:"confirmations"`
}

func (n *Node) scanTxOutSet(_ context.Context, p params) (any, error) {
	action, err := p.text(0)
	if err != nil {
		return nil, err
	}
	switch action {
	case "status": // no scan ever takes long enough to be seen
		return nil, nil
	case "abort":
		return false, nil
	case "start":
		if !p.has(1) {
			return nil, fail(codeMisc, "scanobjects argument is required for the start action")
		}
		return n.scan(p)
	}
	return nil, fail(codeParameter, "Invalid action '%s'", action)
}

func (n *Node) scan(p params) (any, error) {
	objects, err := p.list(1)
	if err != nil {
		return nil, err
	}
	var scripts [][]byte
	for _, object := range objects {
		script, err := n.scanObject(object)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(scripts, func(s []byte) bool { return string(s) == string(script) }) {
			scripts = append(scripts, script)
		}
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	tip := n.tip()
	found, total := []unspentJSON{}, satoshi(0)
	for _, script := range scripts {
		for _, at := range n.utxos.of(script) {
			c := n.utxos.unspent[at]
			block, err := n.at(c.height)
			if err != nil {
				return nil, err
			}
			total += satoshi(c.value)
			found = append(found, unspentJSON{
				at.Hash.String(), at.Index, hex.EncodeToString(script), n.descriptor(script), satoshi(c.value), c.coinbase,
				c.height, block.hash.String(), tip.height - c.height + 1,
			})
		}
	}
	return struct {
		Success bool          `json:"success"`
		Count   int           `json:"txouts"`
		Height  int32         `json:"height"`
		Best    string        `json:"bestblock"`
		Unspent []unspentJSON `json:"unspents"`
		Total   satoshi       `json:"total_amount"`
	}{true, len(n.utxos.unspent), tip.height, tip.hash.String(), found, total}, nil
}

// scanObject is a descriptor, or an object with one; a range means nothing to the supported descriptors.
func (n *Node) scanObject(object json.RawMessage) ([]byte, error) {
	var desc string
	if json.Unmarshal(object, &desc) == nil {
		return n.descriptorScript(desc)
	}
	var full struct {
		Desc *string `json:"desc"`
	}
	if json.Unmarshal(object, &full) != nil {
		return nil, fail(codeParameter, "Scan object needs to be either a string or an object")
	}
	if full.Desc == nil {
		return nil, fail(codeParameter, "Descriptor needs to be provided in scan object")
	}
	return n.descriptorScript(*full.Desc)
}
