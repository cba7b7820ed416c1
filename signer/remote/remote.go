// Package remote runs a signer as a process of its own: the one that holds the seed is then not the one that faces
// clients, nodes and receivers.
//
// It owns the words between the two: HTTP with JSON over a Unix socket or over TLS with certificates on both sides. It
// decides nothing: what may be signed is signer's business, on its side of the wire, with its own configuration. Its
// invariants: nothing but public keys, the root of webhook secrets and signed transactions ever leaves the signer; a
// refusal arrives as the *signer.RefusalError that it was; every other failure is one of transport and leaves open
// whether anything was signed, which harms nothing, since the same draft always gives the same transaction.
package remote

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer"
)

// Version is what both sides must speak.
const Version = 2

// Bounds of what is sent.
const (
	maxQuestion = 16 << 20 // bytes of an order with its draft
	maxAnswer   = 16 << 20
	maxKeys     = 1000 // public keys in one answer
)

// ErrUnavailable says that the signer did not answer, or not as one does. Ask again.
var ErrUnavailable = errors.New("the signer does not answer")

// Paths of the questions.
const (
	pathHello = "/v1/hello"
	pathKeys  = "/v1/keys"
	pathSign  = "/v1/sign"
	pathHalts = "/v1/halts"
	pathMarks = "/v1/marks"
)

// hello is the answer to the first question.
type hello struct {
	Version   int              `json:"version"`
	KeyExport signer.KeyExport `json:"handover"`
}

// keysQuestion asks for the public keys of deposit addresses from an index on.
type keysQuestion struct {
	Family bursar.Family `json:"family"`
	From   uint32        `json:"from"`
	Count  int           `json:"count"`
}

type keysAnswer struct {
	Keys []chain.PublicKey `json:"keys"`
}

type signQuestion struct {
	Chain    bursar.ChainID   `json:"chain"`
	Order    chain.TxRequest  `json:"order"`
	Unsigned chain.UnsignedTx `json:"draft"`
}

type signAnswer struct {
	Signed chain.SignedTx `json:"signed"`
}

// haltsAnswer is the number of the halts that the signer goes by.
type haltsAnswer struct {
	Number int64 `json:"number"`
}

// marksQuestion asks for the marks; with Raise they are raised first, and with Create also begun where there are none.
type marksQuestion struct {
	Raise  *marks.State `json:"raise,omitempty"`
	Create bool         `json:"create,omitempty"`
}

// marksAnswer holds the marks once they are durable, or says that there are none.
type marksAnswer struct {
	Marks   marks.State `json:"marks"`
	Missing bool        `json:"missing,omitempty"`
	Full    bool        `json:"full,omitempty"`
}

// refusal is the answer of a signer that will not sign, with status 403.
type refusal struct {
	Reason signer.Reason `json:"reason"`
	Detail string        `json:"detail"`
}

// Signer is what is served: it signs orders, unless they are halted, and knows the seed's public keys.
type Signer interface {
	SendHalts(ctx context.Context, h signer.Halts) (known int64, err error)
	Sign(ctx context.Context, id bursar.ChainID, order chain.TxRequest, unsigned chain.UnsignedTx) (chain.SignedTx, error)
	Public(ref chain.KeyRef) (chain.PublicKey, error)
}
