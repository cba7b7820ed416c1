package roster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
)

// Epoch is a seed that a policy lets take over the hot wallet. The zero Epoch: none after the first.
type Epoch struct {
	Number      int64
	Fingerprint string
}

func (e Epoch) String() string { return fmt.Sprintf("%d %s", e.Number, e.Fingerprint) }

func readEpoch(r *approval.Reader) (e Epoch) {
	line := r.Line("epoch")
	number, fingerprint, _ := strings.Cut(line, " ")
	n, err := strconv.ParseInt(number, 10, 32)
	r.Demand(r.Err() != nil || err == nil && n > 0 && n <= int64(chain.MaxEpoch) && fingerprint != "" &&
		!strings.Contains(fingerprint, " "), "epoch is %.80q, want a number from 1 to %d and the seed's fingerprint", line,
		chain.MaxEpoch)
	return Epoch{n, fingerprint}
}

// diffEpoch tells of another epoch. That loosens nothing: it can begin only where its seed is, which no author puts
// there by signing.
func diffEpoch(old, next Policy, add adder) {
	if old.Epoch != next.Epoch {
		add(false, "epoch: %q instead of %q", next.Epoch, old.Epoch)
	}
}
