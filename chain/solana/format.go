package solana

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// formatAuto leaves the choice to the node.
const formatAuto = "auto"

// formatsOf returns the formats that a setting allows, the best known one first.
func formatsOf(setting string) []format {
	switch f := format(setting); f {
	case formatAuto:
		return []format{legacy, v0, v1}
	case legacy, v0, v1:
		return []format{f}
	}
	return nil
}

// errFormat means that a node does not accept transactions of a format. This is detected before anything is signed, so
// that a format that a cluster has abandoned costs no expiry; if a node says so only about signed bytes, these count as
// sent until their blockhash has expired, like any others.
var errFormat = errors.New("the node does not accept transactions of this format")

// inFormat builds a message in the first of the formats in use that the node accepts. It tries the format that was
// accepted last first.
func (c *Chain) inFormat(m *message, build func() (chain.UnsignedTx, error)) (chain.UnsignedTx, error) {
	formats := formatsOf(c.cfg.Format)
	start := int(c.format.Load())
	amounts := append([]transfer(nil), m.transfers...) // a sweep lowers its amount by the fee
	var refused []error
	for i := range formats {
		at := (start + i) % len(formats)
		m.format = formats[at]
		copy(m.transfers, amounts)
		d, err := build()
		if !errors.Is(err, errFormat) {
			if err == nil {
				c.format.Store(int32(at))
			}
			return d, err
		}
		refused = append(refused, fmt.Errorf("%s: %w", m.format, err))
	}
	return chain.UnsignedTx{}, errors.Join(refused...)
}

// refusedFormat records that a node does not accept the format of signed bytes: the next build starts with another
// format.
func (c *Chain) refusedFormat(f format) {
	formats := formatsOf(c.cfg.Format)
	for i := range formats {
		if formats[i] == f {
			c.format.CompareAndSwap(int32(i), int32((i+1)%len(formats)))
		}
	}
}

// simulation is the parameters of a simulation.
type simulation struct {
	Encoding   string `json:"encoding"`
	Commitment string `json:"commitment"`
	Verify     bool   `json:"sigVerify"`
	Replace    bool   `json:"replaceRecentBlockhash"`
}

// takes makes the node simulate an unsigned message. Only its answer about the format counts: a payment that would fail
// now may succeed when it is sent. A node that offers no simulation counts as accepting every format, until it refuses
// one.
func (n *node) takes(ctx context.Context, m *message, body []byte) error {
	raw := m.transaction(make([]byte, len(signature{})), body)
	var answer struct {
		Value struct {
			Err jsontext.Value `json:"err"`
		} `json:"value"`
	}
	err := n.CallOptional(ctx, "simulateTransaction",
		[]any{base64.StdEncoding.EncodeToString(raw), simulation{Encoding: "base64", Commitment: confirmed,
			Replace: true}},
		&answer)
	switch {
	case refusesFormat(err), err == nil && namesFormat(answer.Value.Err):
		return errors.Join(errFormat, err)
	case err == nil || rpc.Declined(err):
		return nil
	}
	return err
}

// namesFormat reports whether a TransactionError concerns the format (Agave: TransactionError::UnsupportedVersion,
// SanitizeFailure).
func namesFormat(why jsontext.Value) bool {
	var name string
	return json.Unmarshal(why, &name) == nil && (name == "UnsupportedVersion" || name == "SanitizeFailure")
}

// refusesFormat reports whether a node's error concerns the format: bytes of a version that it does not know ("expected
// a valid transaction message version"), or of one that it knows and does not accept ("Transaction version is
// unsupported").
func refusesFormat(err error) bool {
	var answered *rpc.Error
	if !errors.As(err, &answered) || answered.Code != codeParams && answered.Code != codePreflight {
		return false
	}
	message := strings.ToLower(answered.Message)
	return strings.Contains(message, "version is unsupported") || strings.Contains(message, "message version") ||
		strings.Contains(message, "unsupported version") || strings.Contains(message, "unsupportedversion")
}
