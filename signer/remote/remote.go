// Package remote runs a signer as a separate process: the process with the seed is then not the one that faces clients,
// nodes and webhook receivers.
//
// It owns the protocol between the two: HTTP with JSON over a Unix socket, or over TLS with certificates on both sides.
// It decides nothing: package signer decides what may be signed, on its side of the connection, with its own
// configuration. Its invariants: nothing but public keys, the root of webhook secrets and signed transactions ever
// leaves the signer; a refusal is returned as the *signer.RefusalError that it was; every other failure is one of
// transport and leaves open whether anything was signed, which does no harm, because the same unsigned transaction
// always gives the same signed transaction.
package remote

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// Version is the version of the protocol; both sides must have the same.
const Version = 8

// Bounds of a message.
const (
	maxQuestion = 16 << 20 // bytes of a request with its unsigned transaction
	maxAnswer   = 16 << 20
	maxKeys     = 1000 // public keys in one response
)

// ErrUnavailable is returned if the signer did not answer, or not as a signer does. The request may be repeated.
var ErrUnavailable = errors.New("the signer does not answer")

// Paths of the requests.
const (
	pathHello = "/v1/hello"
	pathKeys  = "/v1/keys"
	pathSign  = "/v1/sign"
	pathHalts = "/v1/halts"
	pathMarks = "/v1/marks"

	pathPolicy = "/v1/policy"
)

// hello is the response to the first request.
type hello struct {
	Version   int              `json:"version"`
	KeyExport signer.KeyExport `json:"handover"`

	Log    memory.Checkpoint `json:"log"`              // the newest entry of the signer's log
	Frozen string            `json:"frozen,omitempty"` // why nothing is signed until a thaw

	Begun signer.Begun `json:"begun,omitzero"` // who began the epochs; an earlier release does not say

	ThawsAt time.Time `json:"thawsAt,omitzero"` // when a thaw begins that people signed; zero: none waits
}

// keysQuestion requests the public keys of deposit addresses from an index on.
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
	Request  chain.TxRequest  `json:"order"`
	Unsigned chain.UnsignedTx `json:"draft"`

	Seen memory.Checkpoint `json:"seen"` // the newest entry of the signer's log that the service has seen

	Policy signer.PolicyClaim `json:"policy"` // the newest policy that the service has seen
}

// policyQuestion requests the policy.
type policyQuestion struct {
	Seen signer.PolicyClaim `json:"seen"` // the newest policy that the service has seen
}

type signAnswer struct {
	Signed chain.SignedTx    `json:"signed"`
	Log    memory.Checkpoint `json:"log"`
}

// haltsAnswer is the number of the halts that the signer has.
type haltsAnswer struct {
	Number int64             `json:"number"`
	Log    memory.Checkpoint `json:"log"`
	Frozen string            `json:"frozen,omitempty"` // why nothing is signed until a thaw
	Epoch  *chain.Epoch      `json:"epoch,omitempty"`  // that is in force; nil: an earlier release, which does not say

	ThawsAt time.Time `json:"thawsAt,omitzero"` // when a thaw begins that people signed; zero: none waits
}

// header names the version of the protocol with each request, as the connection may have outlived the other process.
const header = "Bursar-Signer-Protocol"

// marksQuestion requests the marks. With Raise they are raised first, and with Create also created if there are none.
type marksQuestion struct {
	Raise  *marks.State `json:"raise,omitempty"`
	Create bool         `json:"create,omitempty"`
	Known  string       `json:"known,omitempty"` // Name of the answer whose marks the client has
}

// marksAnswer contains the marks once they are durable, or says that there are none.
type marksAnswer struct {
	Marks   marks.State `json:"marks"`
	Name    string      `json:"name,omitempty"`  // of this answer
	Known   bool        `json:"known,omitempty"` // Marks is empty: they are those that the client has, raised as it asked
	Missing bool        `json:"missing,omitempty"`
	Full    bool        `json:"full,omitempty"`
}

// refusal is the response of a signer that refuses to sign, with status 403.
type refusal struct {
	Reason signer.Reason `json:"reason"`
	Detail string        `json:"detail"`
	Never  bool          `json:"never,omitempty"`
}

// Signer is what the server serves: it signs transaction requests unless they are halted, and knows the seed's public
// keys.
type Signer interface {
	SendHalts(ctx context.Context, h signer.Halts) (known int64, err error)
	Sign(
		ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
	) (chain.SignedTx, error)
	// Leaving is asked right before a signature is handed over; done is called after that.
	Leaving(id bursar.ChainID, request chain.TxRequest) (done func(), err error)
	Public(ref chain.KeyRef) (chain.PublicKey, error)
	Checkpoint() memory.Checkpoint
	Know(seen memory.Checkpoint) error
	Frozen() (string, error)
	ThawsAt() time.Time
	Begun(ctx context.Context) (signer.Begun, error)
	Policy(ctx context.Context) (signer.PolicyText, error)
	KnowPolicy(ctx context.Context, claim signer.PolicyClaim) error
}
