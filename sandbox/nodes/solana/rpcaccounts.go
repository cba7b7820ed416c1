package solana

import (
	"encoding/base64"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// accountView is an account as clients see it.
type accountView struct {
	Data       any    `json:"data"`
	Executable bool   `json:"executable"`
	Lamports   uint64 `json:"lamports"`
	Owner      key    `json:"owner"`
	RentEpoch  uint64 `json:"rentEpoch"`
	Space      int    `json:"space"`
}

func (n *Node) getBalance(p params) (any, error) {
	k, err := p.key(0)
	if err != nil {
		return nil, err
	}
	o, err := n.options(p, 1)
	return n.in(o.Commitment, n.bank.accountAt(n.bank.place(o.Commitment), k).lamports), err
}

func (n *Node) getAccountInfo(p params) (any, error) {
	k, err := p.key(0)
	if err != nil {
		return nil, err
	}
	o, err := n.options(p, 1)
	if err != nil {
		return nil, err
	}
	view, err := n.viewAccount(k, o)
	if err != nil || view == nil {
		return n.in(o.Commitment, nil), err
	}
	return n.in(o.Commitment, view), nil
}

func (n *Node) getMultipleAccounts(p params) (any, error) {
	var texts []string
	if err := p.get(0, &texts); err != nil {
		return nil, err
	}
	if len(texts) > 100 {
		return nil, fail(codeParams, "Too many inputs provided; max 100")
	}
	o, err := n.options(p, 1)
	if err != nil {
		return nil, err
	}
	if o.Encoding == "" {
		o.Encoding = "base64"
	}
	views := make([]*accountView, len(texts))
	for i, text := range texts {
		k, err := paramKey(text)
		if err != nil {
			return nil, err
		}
		if views[i], err = n.viewAccount(k, o); err != nil {
			return nil, err
		}
	}
	return n.in(o.Commitment, views), nil
}

// viewAccount is nil for an account that does not exist.
func (n *Node) viewAccount(k key, o options) (*accountView, error) {
	a := n.bank.accountAt(n.bank.place(o.Commitment), k)
	if a.lamports == 0 {
		return nil, nil
	}
	v := &accountView{Executable: a.executable, Lamports: a.lamports, Owner: a.owner, RentEpoch: never, Space: len(a.data)}
	data := a.data
	if s := o.Slice; s != nil {
		from := min(max(s.Offset, 0), len(data))
		data = data[from:min(from+max(s.Length, 0), len(data))]
	}
	switch o.Encoding {
	case "", "binary":
		v.Data = base58.Encode(data)
	case "base58":
		v.Data = []string{base58.Encode(data), "base58"}
	case "base64", "jsonParsed": // data that cannot be parsed is given in base64, and no data here can be parsed
		v.Data = []string{base64.StdEncoding.EncodeToString(data), "base64"}
	default:
		return nil, fail(codeParams, "unsupported encoding: %s", o.Encoding)
	}
	return v, nil
}
