package solana

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Transactions of version 1, by SIMD-0385: the signatures come last and are not counted, all counts are single bytes,
// and what a transaction reserves is in its head instead of in instructions.
const (
	v1Prefix     = 0x81
	maxV1Keys    = 64
	maxV1Signers = 12
	maxV1Steps   = 64
	minHeap      = 32 << 10
	accountBase  = 64 // what each account weighs besides its data (SIMD-0186)
)

// Bits of the mask of a head, in the order of their values.
const (
	maskFee    = 0b11
	maskUnits  = 0b100
	maskLoaded = 0b1000
	maskHeap   = 0b10000
)

// config is what a transaction of version 1 reserves. A member that its mask leaves out is 0, except the heap.
type config struct {
	mask   uint32
	fee    uint64 // lamports above the base fee
	units  uint32
	loaded uint32 // bytes of all accounts
	heap   uint32
}

// parseV1 reads a whole transaction of version 1.
func parseV1(raw []byte) (*transaction, error) {
	if len(raw) > maxTransaction {
		return nil, tooLarge(len(raw), maxTransaction)
	}
	t := &transaction{raw: raw}
	r := &reader{rest: raw}
	if err := t.readV1(r); err != nil && !errors.Is(err, errTrailing) {
		return nil, fmt.Errorf("failed to deserialize solana_transaction::versioned::VersionedTransaction: %w", err)
	}
	t.message = raw[:len(raw)-len(r.rest)]
	if len(r.rest) != t.signers*64 {
		return nil, errSanitize
	}
	for sigs := range slices.Chunk(r.rest, 64) {
		t.signatures = append(t.signatures, signature(sigs))
	}
	return t, nil
}

var errTrailing = errors.New("io error: bytes after the transaction")

// readV1 reads a message of version 1; errTrailing is returned if bytes follow it.
func (t *transaction) readV1(r *reader) error {
	r.byte() // the caller has checked the prefix
	t.version = 1
	t.signers, t.readSigned, t.readUnsigned = int(r.byte()), int(r.byte()), int(r.byte())
	t.config.mask = binary.LittleEndian.Uint32(r.take(4))
	t.blockhash = key(r.take(32))
	steps, keys := int(r.byte()), int(r.byte())
	for range keys {
		t.keys = append(t.keys, key(r.take(32)))
	}
	if err := t.config.read(r); err != nil {
		return err
	}
	heads := r.take(4 * steps)
	for head := range slices.Chunk(heads, 4) {
		i := instruction{program: head[0], accounts: r.take(int(head[1]))}
		i.data = r.take(int(binary.LittleEndian.Uint16(head[2:])))
		t.instructions = append(t.instructions, i)
	}
	switch {
	case r.short:
		return errTruncated
	case keys > maxV1Keys || steps > maxV1Steps || t.signers > maxV1Signers:
		return errSanitize
	}
	if err := t.sanitize(); err != nil {
		return err
	}
	if len(r.rest) > 0 {
		return errTrailing
	}
	return nil
}

func (c *config) read(r *reader) error {
	if c.mask&^(maskFee|maskUnits|maskLoaded|maskHeap) != 0 || bits.OnesCount32(c.mask&maskFee) == 1 {
		return errSanitize
	}
	c.heap = minHeap
	if c.mask&maskFee != 0 {
		c.fee = binary.LittleEndian.Uint64(r.take(8))
	}
	if c.mask&maskUnits != 0 {
		c.units = binary.LittleEndian.Uint32(r.take(4))
	}
	if c.mask&maskLoaded != 0 {
		c.loaded = binary.LittleEndian.Uint32(r.take(4))
	}
	if c.mask&maskHeap != 0 {
		c.heap = binary.LittleEndian.Uint32(r.take(4))
	}
	if !knownHeap(uint64(c.heap)) {
		return errSanitize
	}
	return nil
}

// budgetV1 is budget for a transaction of version 1, whose instructions to the compute budget program do nothing.
func (r *runner) budgetV1() failure {
	r.limit = min(uint64(r.config.units), maxUnits)
	if r.limit > 0 {
		r.price = r.config.fee * 1_000_000 / r.limit // only reported, and no fee of the sandbox is near the limit
	}
	r.fee = lamportsPerSignature*uint64(r.signers) + min(r.config.fee, 1<<62)
	weight := uint64(0)
	for _, k := range r.transaction.keys {
		if r.state != nil {
			weight += accountBase + uint64(len(r.state(k).data))
		}
	}
	if weight > uint64(r.config.loaded) {
		return "MaxLoadedAccountsDataSizeExceeded"
	}
	return nil
}

// view is the member of answers that shows it, with the given values only.
func (c config) view() map[string]any {
	view := map[string]any{}
	for name, field := range map[string]struct {
		bit   uint32
		value any
	}{
		"priorityFee": {maskFee, c.fee}, "computeUnitLimit": {maskUnits, c.units},
		"loadedAccountsDataSizeLimit": {maskLoaded, c.loaded}, "heapSize": {maskHeap, c.heap},
	} {
		if c.mask&field.bit != 0 {
			view[name] = field.value
		}
	}
	return view
}
