package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chainhash/v2"
)

// method is one RPC call.
type method struct {
	// usage is the help text's first line; its words after the name are the parameters, optional ones in brackets.
	usage  string
	params []string // names in order; alternatives for one position are joined by "|"
	least  int      // number of required parameters
	call   func(ctx context.Context, p params) (any, error)
}

// params are the arguments of one call, by position. Missing ones and nulls are nil.
type params struct {
	names  []string
	values []json.RawMessage
}

// call finds the method and runs it. The method itself takes the lock.
func (n *Node) call(ctx context.Context, req request) (any, error) {
	m, ok := n.methods[req.method]
	if !ok {
		return nil, fail(codeNoMethod, "Method not found")
	}
	p, err := arrange(m, req.params)
	if err != nil {
		return nil, err
	}
	result, err := m.call(ctx, p)
	if err != nil {
		n.cfg.Log.Debug("rpc call failed", "method", req.method, "error", err)
	}
	return result, err
}

// arrange puts parameters given by position or by name into positions.
func arrange(m method, raw json.RawMessage) (params, error) {
	p := params{names: m.params, values: make([]json.RawMessage, len(m.params))}
	var given []json.RawMessage
	var named map[string]json.RawMessage
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '[':
		if err := json.Unmarshal(raw, &given); err != nil {
			return p, fail(codeParse, "Parse error")
		}
	case raw[0] == '{':
		if err := json.Unmarshal(raw, &named); err != nil {
			return p, fail(codeParse, "Parse error")
		}
	default:
		return p, fail(codeInvalidRequest, "Params must be an array or object")
	}
	if len(given) > len(m.params) {
		return p, fail(codeMisc, "%s\n", m.usage)
	}
	copy(p.values, given)
	if err := p.placeNamed(named); err != nil {
		return p, err
	}
	for i, v := range p.values {
		if string(v) == "null" {
			p.values[i] = nil
		}
		if i < m.least && p.values[i] == nil {
			return p, fail(codeMisc, "%s\n", m.usage)
		}
	}
	return p, nil
}

func (p params) placeNamed(named map[string]json.RawMessage) error {
next:
	for name, value := range named {
		for i, names := range p.names {
			for alias := range strings.SplitSeq(names, "|") {
				if alias == name {
					p.values[i] = value
					continue next
				}
			}
		}
		return fail(codeParameter, "Unknown named parameter %s", name)
	}
	return nil
}

func (p params) has(i int) bool { return p.values[i] != nil }

// mistyped is the error for a parameter of the wrong JSON type.
func (p params) mistyped(i int, want string) error {
	name, _, _ := strings.Cut(p.names[i], "|")
	return fail(codeType,
		"Wrong type passed:\n{\n    \"Position %d (%s)\": \"JSON value of type %s is not of expected type %s\"\n}", i+1, name,
		jsonType(p.values[i]), want)
}

func jsonType(v json.RawMessage) string {
	switch v[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

func (p params) text(i int) (string, error) {
	var s string
	if json.Unmarshal(p.values[i], &s) != nil {
		return "", p.mistyped(i, "string")
	}
	return s, nil
}

// integer reads parameter i, or returns def if it is missing.
func (p params) integer(i int, def int64) (int64, error) {
	if !p.has(i) {
		return def, nil
	}
	if jsonType(p.values[i]) != "number" {
		return 0, p.mistyped(i, "number")
	}
	v, err := strconv.ParseInt(string(p.values[i]), 10, 32)
	if err != nil {
		return 0, fail(codeMisc, "JSON integer out of range")
	}
	return v, nil
}

func (p params) boolean(i int, def bool) (bool, error) {
	if !p.has(i) {
		return def, nil
	}
	var b bool
	if json.Unmarshal(p.values[i], &b) != nil {
		return false, p.mistyped(i, "bool")
	}
	return b, nil
}

// verbosity reads a level, which older clients give as a boolean.
func (p params) verbosity(i int, def int64) (int64, error) {
	if p.has(i) && jsonType(p.values[i]) == "bool" {
		b, err := p.boolean(i, false)
		if b {
			return 1, err
		}
		return 0, err
	}
	return p.integer(i, def)
}

// hash reads a block hash or transaction id; name is bitcoind's name for it in an error.
func (p params) hash(i int, name string) (chainhash.Hash, error) {
	s, err := p.text(i)
	if err != nil {
		return chainhash.Hash{}, err
	}
	if len(s) != 64 {
		return chainhash.Hash{}, fail(codeParameter, "%s must be of length 64 (not %d, for '%s')", name, len(s), s)
	}
	hash, err := chainhash.NewHashFromStr(s)
	if err != nil {
		return chainhash.Hash{}, fail(codeParameter, "%s must be hexadecimal string (not '%s')", name, s)
	}
	return *hash, nil
}

// amount reads an amount in whole bitcoins given as a number or a string.
func (p params) amount(i int, def satoshi) (satoshi, error) {
	if !p.has(i) {
		return def, nil
	}
	text := string(p.values[i])
	switch jsonType(p.values[i]) {
	case "number":
	case "string":
		text, _ = p.text(i)
	default:
		return 0, fail(codeType, "Amount is not a number or string")
	}
	v, err := parseAmount(text)
	if err != nil {
		return 0, fail(codeType, "%s", err.Error())
	}
	if v < 0 || v > maxMoney {
		return 0, fail(codeType, "Amount out of range")
	}
	return v, nil
}

// list reads an array of parameter i's elements.
func (p params) list(i int) ([]json.RawMessage, error) {
	var l []json.RawMessage
	if json.Unmarshal(p.values[i], &l) != nil {
		return nil, p.mistyped(i, "array")
	}
	return l, nil
}

func decodeHex(s string) ([]byte, error) {
	raw, err := hex.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("decode hex: %w", err)
	}
	return raw, nil
}
