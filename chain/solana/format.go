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

// formatAuto leaves it to the node.
const formatAuto = "auto"

// formatsOf lists the formats that a setting allows, the best known one first.
func formatsOf(setting string) []format {
	switch f := format(setting); f {
	case formatAuto:
		return []format{legacy, v0, v1}
	case legacy, v0, v1:
		return []format{f}
	}
	return nil
}

// errFormat says that a node does not take transactions of a format. It is found out before anything is signed, so that
// a format that a cluster has given up costs no expiry; where it is only said of signed bytes, these count as sent
// until their blockhash has expired, as any others do.
var errFormat = errors.New("the node takes no transactions of this format")

// inFormat has a message drafted in the first of the formats in use that the node takes. The format that was taken last
// goes first.
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

// refusedFormat notes that signed bytes met a node that does not take their format: the next draft begins with another
// one.
func (c *Chain) refusedFormat(f format) {
	formats := formatsOf(c.cfg.Format)
	for i := range formats {
		if formats[i] == f {
			c.format.CompareAndSwap(int32(i), int32((i+1)%len(formats)))
		}
	}
}

// trial is how a transaction is tried without being sent.
type trial struct {
	Encoding   string `json:"encoding"`
	Commitment string `json:"commitment"`
	Verify     bool   `json:"sigVerify"`
	Replace    bool   `json:"replaceRecentBlockhash"`
}

// takes has the node try an unsigned message. Only what it says of the format counts: that a payment would fail now
// says nothing of when it is sent. A node that offers no trials takes any format, until it refuses one.
func (n *node) takes(ctx context.Context, m *message, body []byte) error {
	raw := m.transaction(make([]byte, len(signature{})), body)
	var answer struct {
		Value struct {
			Err jsontext.Value `json:"err"`
		} `json:"value"`
	}
	err := n.CallOptional(ctx, "simulateTransaction",
		[]any{base64.StdEncoding.EncodeToString(raw), trial{Encoding: "base64", Commitment: confirmed, Replace: true}},
		&answer)
	switch {
	case refusesFormat(err), err == nil && namesFormat(answer.Value.Err):
		return errors.Join(errFormat, err)
	case err == nil || rpc.Declined(err):
		return nil
	}
	return err
}

// namesFormat reports whether a TransactionError speaks of the format (Agave: TransactionError::UnsupportedVersion,
// SanitizeFailure).
func namesFormat(why jsontext.Value) bool {
	var name string
	return json.Unmarshal(why, &name) == nil && (name == "UnsupportedVersion" || name == "SanitizeFailure")
}

// refusesFormat reports whether a node's error speaks of the format: bytes of a version that it does not know
// ("expected a valid transaction message version"), or one that it knows and does not take ("Transaction version is
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
