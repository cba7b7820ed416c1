package tron

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// object is a JSON object.
type object = map[string]any

const maxBody = 4 << 20 // java-tron's node.maxMessageSize

// query is one request with the view that it is answered from.
type query struct {
	node    *Node
	view    *block // newest block of this view
	params  object
	visible bool
}

// methods are the methods below /wallet and /walletsolidity; changing ones are served below /wallet only.
func methods() (reading, changing map[string]func(*query) (any, error)) {
	reading = map[string]func(*query) (any, error){
		"getnowblock": (*query).nowBlock, "getblock": (*query).getBlock, "getblockbynum": (*query).blockByNumber,
		"getblockbyid": (*query).blockByID, "getblockbylimitnext": (*query).blockRange,
		"getblockbylatestnum": (*query).latestBlocks,
		"gettransactionbyid":  (*query).transactionByID, "gettransactioninfobyid": (*query).infoByID,
		"gettransactioninfobyblocknum": (*query).infoByNumber, "gettransactioncountbyblocknum": (*query).countByNumber,
		"getaccount": (*query).account, "triggerconstantcontract": (*query).triggerConstant,
		"estimateenergy": (*query).estimate,
	}
	changing = map[string]func(*query) (any, error){
		"getaccountresource": (*query).resources, "getaccountnet": (*query).resources, "getcontract": (*query).contract,
		"getchainparameters": (*query).parameters, "getnodeinfo": (*query).nodeInfo,
		"validateaddress":   (*query).validateAddress,
		"createtransaction": (*query).createTransaction, "triggersmartcontract": (*query).triggerSmart,
		"gettransactionfrompending": (*query).fromPending, "gettransactionlistfrompending": (*query).pendingList,
		"broadcasttransaction": (*query).broadcastTransaction, "broadcasthex": (*query).broadcastHex,
	}
	return reading, changing
}

// handler serves the API. Broadcasts take the lock for writing.
func (n *Node) handler() http.Handler {
	reading, changing := methods()
	mux := http.NewServeMux()
	for name, do := range reading {
		mux.Handle("/wallet/"+name, n.serving(do, false, false))
		mux.Handle("/walletsolidity/"+name, n.serving(do, true, false))
	}
	for name, do := range changing {
		mux.Handle("/wallet/"+name, n.serving(do, false, strings.HasPrefix(name, "broadcast")))
	}
	return mux
}

// serving answers one method as java-tron does: always with HTTP status 200, and with an Error if it failed.
func (n *Node) serving(do func(*query) (any, error), solid, writes bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		params, err := readParams(w, r)
		var answer any
		if err == nil {
			answer, err = n.answer(do, params, solid, writes)
		}
		if err != nil {
			answer = object{"Error": "class org.tron.core.exception.BadItemException : " + err.Error()}
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			n.cfg.Log.Debug("cannot send an answer", "error", err)
		}
	})
}

func (n *Node) answer(do func(*query) (any, error), params object, solid, writes bool) (any, error) {
	if writes {
		n.gate.Lock()
		defer n.gate.Unlock()
	} else {
		n.gate.RLock()
		defer n.gate.RUnlock()
	}
	q := &query{node: n, view: n.head(), params: params}
	if solid {
		q.view = n.blocks[n.solid]
	}
	q.visible, _ = params["visible"].(bool)
	answer, err := do(q)
	if err == nil && q.visible {
		answer = shown(answer)
	}
	return answer, err
}

// readParams reads a JSON body, or the query of a GET. The body is read first: a slow client must not hold up Mine.
func readParams(w http.ResponseWriter, r *http.Request) (object, error) {
	params := object{}
	if r.Method == http.MethodGet {
		for key, values := range r.URL.Query() {
			params[key] = values[0]
		}
		if text, ok := params["visible"].(string); ok {
			params["visible"] = text == "true"
		}
		return params, nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, errors.New("body size is too big")
	}
	if len(strings.TrimSpace(string(body))) == 0 {
		return params, nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	if err := decoder.Decode(&params); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	return params, nil
}

func (q *query) text(name string) string {
	switch v := q.params[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// number reads a parameter; a missing one is 0.
func (q *query) number(name string) (int64, error) {
	text := q.text(name)
	if text == "" {
		return 0, nil
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %.60q is not a number", name, text)
	}
	return value, nil
}

func (q *query) address(name string) (common.Address, error) {
	a, err := parseAddress(q.text(name))
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

func (q *query) id(name string) ([32]byte, error) {
	raw, err := hex.DecodeString(q.text(name))
	if err != nil || len(raw) != 32 {
		return [32]byte{}, fmt.Errorf("%s: %.80q is not an id", name, q.text(name))
	}
	return [32]byte(raw), nil
}

// at returns the block of the view at a height, or nil.
func (q *query) at(height int64) *block {
	if height < 0 || height > int64(q.view.height) || height > math.MaxInt32 {
		return nil
	}
	return q.node.blocks[height]
}

// shownKeys are the members that hold addresses.
var shownKeys = map[string]bool{
	"owner_address": true, "to_address": true, "contract_address": true, "witness_address": true, "address": true,
	"caller_address": true, "transferTo_address": true, "origin_address": true,
}

// shown encodes addresses in Base58Check, as `visible: true` asks.
func shown(answer any) any {
	switch v := answer.(type) {
	case object:
		changed := make(object, len(v))
		for key, member := range v {
			changed[key] = shown(member)
			text, is := member.(string)
			if !is || !shownKeys[key] {
				continue
			}
			if len(text) == 40 {
				text = "41" + text // of an event
			}
			if a, err := parseAddress(text); err == nil {
				changed[key] = toBase58(a)
			}
		}
		return changed
	case []object:
		changed := make([]object, len(v))
		for i := range v {
			changed[i], _ = shown(v[i]).(object)
		}
		return changed
	}
	return answer
}
