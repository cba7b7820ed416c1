package roster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bursar/bursar/approval"
)

// Epoch is a seed that a policy lets take over the hot wallet. The zero Epoch: none after the first.
type Epoch struct {
	Number      int64
	Fingerprint string
}

// maxEpoch is chain.MaxEpoch.
const maxEpoch = 31

// String returns the epoch as a policy's line has it.
func (e Epoch) String() string { return fmt.Sprintf("%d %s", e.Number, e.Fingerprint) }

func readEpoch(r *approval.Reader) (e Epoch) {
	line := r.Line("epoch")
	number, fingerprint, _ := strings.Cut(line, " ")
	n, err := strconv.ParseInt(number, 10, 32)
	r.Demand(r.Err() != nil || err == nil && n > 0 && n <= maxEpoch && fingerprint != "" &&
		!strings.Contains(fingerprint, " "), "epoch is %.80q, want a number from 1 to %d and the seed's fingerprint", line,
		maxEpoch)
	return Epoch{n, fingerprint}
}

// diffEpoch reports a change of the epoch. It does not loosen anything: an epoch can begin only where its seed is, and
// signing a policy puts no seed anywhere.
func diffEpoch(old, next Policy, add adder) {
	if old.Epoch != next.Epoch {
		add(false, "epoch: %q instead of %q", next.Epoch, old.Epoch)
	}
}
