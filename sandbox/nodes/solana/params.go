package solana

import (
	"encoding/base64"
	"encoding/json"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// params are a call's positional parameters.
type params []json.RawMessage

// options are the members that configuration objects of all methods have.
type options struct {
	Commitment     level   `json:"commitment"`
	Encoding       string  `json:"encoding"`
	MinContextSlot *uint64 `json:"minContextSlot"`
	Slice          *struct {
		Offset int `json:"offset"`
		Length int `json:"length"`
	} `json:"dataSlice"`
	Details       string `json:"transactionDetails"`
	MaxVersion    *uint8 `json:"maxSupportedTransactionVersion"`
	Rewards       *bool  `json:"rewards"`
	Search        bool   `json:"searchTransactionHistory"`
	SkipPreflight bool   `json:"skipPreflight"`
	Preflight     level  `json:"preflightCommitment"`
	SigVerify     bool   `json:"sigVerify"`
	Replace       bool   `json:"replaceRecentBlockhash"`
	Limit         *int   `json:"limit"`
	Before        string `json:"before"`
	Until         string `json:"until"`
	Received      bool   `json:"enableReceivedNotification"`
}

// absent reports whether a parameter is missing or null.
func (p params) absent(i int) bool { return i >= len(p) || string(p[i]) == "null" }

// get decodes a required parameter.
func (p params) get(i int, out any) error {
	if p.absent(i) {
		return fail(codeParams, "`params` should have at least %d argument(s)", i+1)
	}
	if err := json.Unmarshal(p[i], out); err != nil {
		return fail(codeParams, "Invalid params: %v.", err)
	}
	return nil
}

// key decodes an address.
func (p params) key(i int) (key, error) {
	var text string
	if err := p.get(i, &text); err != nil {
		return key{}, err
	}
	return paramKey(text)
}

func paramKey(text string) (key, error) {
	k, err := parseKey(text)
	if err != nil {
		return k, fail(codeParams, "Invalid param: WrongSize")
	}
	return k, nil
}

func paramSignature(text string) (signature, error) {
	sig, err := parseSignature(text)
	if err != nil {
		return sig, fail(codeParams, "Invalid param: WrongSize")
	}
	return sig, nil
}

// options decodes a configuration object and checks its commitment.
func (n *Node) options(p params, i int) (options, error) {
	var o options
	if !p.absent(i) {
		if err := p.get(i, &o); err != nil {
			return o, err
		}
	}
	for _, l := range []*level{&o.Commitment, &o.Preflight} {
		switch *l {
		case "":
			*l = finalized
		case processed, confirmed, finalized:
		default:
			return o, fail(codeParams,
				"Invalid params: unknown variant `%s`, expected one of `processed`, `confirmed`, `finalized`.", *l)
		}
	}
	if o.MinContextSlot != nil && n.bank.at(o.Commitment).slot < *o.MinContextSlot {
		return o, &rpcError{codeMinContextSlot, "Minimum context slot has not been reached",
			map[string]any{"contextSlot": n.bank.at(o.Commitment).slot}}
	}
	return o, nil
}

// ledgerOptions is options for methods that read the ledger, which has no processed blocks.
func (n *Node) ledgerOptions(p params, i int) (options, error) {
	o, err := n.options(p, i)
	if err == nil && o.Commitment == processed {
		err = fail(codeParams, "Method does not support commitment below `confirmed`")
	}
	return o, err
}

// inContext is a value with its slot.
type inContext struct {
	Context contextSlot `json:"context"`
	Value   any         `json:"value"`
}

type contextSlot struct {
	API  string `json:"apiVersion"`
	Slot uint64 `json:"slot"`
}

// apiVersion is the release of Agave whose answers are imitated.
const apiVersion = "4.2.2"

func (n *Node) in(l level, value any) inContext {
	return inContext{contextSlot{apiVersion, n.bank.at(l).slot}, value}
}

// decodeWire decodes bytes in an encoding that senders use.
func decodeWire(text, encoding string) ([]byte, error) {
	const mostBase64, mostBase58 = 5464, 5594 // of a transaction of version 1; others are measured later
	switch encoding {
	case "base64":
		if len(text) > mostBase64 {
			return nil, fail(codeParams,
				"base64 encoded solana_transaction::versioned::VersionedTransaction too large: %d bytes (max: encoded/raw %d/%d)",
				len(text), mostBase64, maxTransaction)
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fail(codeParams, "invalid base64 encoding: %v", err)
		}
		return raw, nil
	case "", "base58":
		if len(text) > mostBase58 {
			return nil, fail(codeParams,
				"base58 encoded solana_transaction::versioned::VersionedTransaction too large: %d bytes (max: encoded/raw %d/%d)",
				len(text), mostBase58, maxTransaction)
		}
		raw := base58.Decode(text)
		if len(raw) == 0 {
			return nil, fail(codeParams, "invalid base58 encoding: InvalidCharacter")
		}
		return raw, nil
	}
	return nil, fail(codeParams, "unsupported encoding: %s. Supported encodings: base58, base64", encoding)
}
