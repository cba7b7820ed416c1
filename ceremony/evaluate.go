package ceremony

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// Own is what a machine knows by itself of the chain that a bundle is for. None of it comes with the bundle.
type Own struct {
	Instance string // the fingerprint of the hot wallet's seed
	Network  string
	Kinds    []bursar.ColdKind // the kinds of cold wallets that the chain has besides single addresses
	Rules    chain.OfflineRules
	Home     string      // the hot wallet's address
	Epoch    chain.Epoch // of the seed that has it, as far as this machine knows

	MaxFee, MaxRate bursar.Amount

	Native bursar.Currency // how amounts of the native asset are written
	Asset  bursar.Currency // how amounts of what is paid are written
}

// Errors of bundles that are not for this machine, or not for now.
var (
	ErrOtherService = errors.New("the bundle is for another service")
	ErrExpired      = errors.New("the bundle has expired")
	ErrLasting      = errors.New("the bundle would be usable for too long")
)

// Lifetime is how long a bundle can be signed and broadcast. Machines refuse one that lasts longer: a stored signed
// transaction could otherwise be broadcast long after anyone expects it.
const Lifetime = 7 * 24 * time.Hour

// clocks is how much the clocks of two machines may differ.
const clocks = time.Hour

// Evaluate reads what a bundle's bytes do, and refuses a bundle that is not for this instance and network, that has
// expired, that lasts longer than Lifetime, or that does anything else than pay the hot wallet what it says within the
// bounds of fees: its own, and this machine's.
func (o Own) Evaluate(b Bundle, now time.Time) (chain.ColdTx, error) {
	switch {
	case b.Instance != o.Instance:
		return chain.ColdTx{}, fmt.Errorf("%w: its instance is %.40q, want %q", ErrOtherService, b.Instance, o.Instance)
	case b.Network != o.Network:
		return chain.ColdTx{}, fmt.Errorf("%w: its network is %.20q, want %q", ErrOtherService, b.Network, o.Network)
	case !now.Before(b.Expires):
		return chain.ColdTx{}, fmt.Errorf("%w at %s: ask for a new one", ErrExpired, b.Expires.Format(time.RFC3339))
	case b.Expires.After(now.Add(Lifetime + clocks)):
		return chain.ColdTx{}, fmt.Errorf("%w: until %s, at most %s from now", ErrLasting, b.Expires.Format(time.RFC3339),
			Lifetime)
	}
	if err := b.Wallet.Check(o.Kinds...); err != nil {
		return chain.ColdTx{}, err
	}
	if err := o.Rules.CheckCold(b.Wallet); err != nil {
		return chain.ColdTx{}, err
	}
	tx, err := o.refill(b).Evaluate(o.Rules, o.Home, b.Bytes)
	if err != nil && b.Payment.Address.Base != o.Home {
		err = fmt.Errorf("%w; this machine knows that of epoch %d: if another has begun, give it the public keys again "+
			"(`bursar seed export-public`)", err, o.Epoch)
	}
	if err == nil {
		err = lastBlock(b, tx)
	}
	if err != nil || tx.Ends.IsZero() {
		return tx, err
	}
	switch ends := tx.Ends.UTC().Format(time.RFC3339); {
	case !now.Before(tx.Ends):
		return tx, fmt.Errorf("%w: its chain accepts it until %s: ask for a new one", ErrExpired, ends)
	case tx.Ends.After(now.Add(Lifetime + clocks)):
		return tx, fmt.Errorf("%w: its chain accepts it until %s, at most %s from now", ErrLasting, ends, Lifetime)
	}
	return tx, nil
}

// lastBlock refuses a transaction whose last block is further from the one at which its bundle was made than blocks
// come in Lifetime, however fast, or that is behind it. A machine without a network cannot know which block is the
// newest: Describe shows what the bundle says of that.
func lastBlock(b Bundle, tx chain.ColdTx) error {
	switch {
	case tx.Last == 0:
		return nil
	case b.Height == 0:
		return fmt.Errorf("%w: block %d is its last, and it does not say at which block it was made: ask for a new one",
			ErrLasting, tx.Last)
	case tx.Last <= b.Height:
		return fmt.Errorf("%w: block %d is its last, and it was made at block %d", ErrExpired, tx.Last, b.Height)
	case tx.Last-b.Height > uint64((Lifetime+clocks)/tx.Spacing[0]):
		return fmt.Errorf("%w: its last block is %d after block %d, at which it was made, at most %d are taken", ErrLasting,
			tx.Last-b.Height, b.Height, uint64((Lifetime+clocks)/tx.Spacing[0]))
	}
	return nil
}

func (o Own) refill(b Bundle) signer.Refill {
	limit := b.MaxFee
	if o.MaxFee.Less(limit) {
		limit = o.MaxFee
	}
	return signer.Refill{ID: b.ID, Wallet: b.Wallet, Payment: b.Payment, MaxFee: limit, MaxRate: o.MaxRate}
}

// Sign evaluates a bundle and returns it with the signatures of a seed's keys.
func (o Own) Sign(b Bundle, keys *signer.Keys, now time.Time) (Bundle, error) {
	if _, err := o.Evaluate(b, now); err != nil {
		return Bundle{}, err
	}
	signed, err := keys.SignRefill(o.Rules, o.refill(b), o.Home, b.Bytes)
	if err != nil {
		return Bundle{}, err
	}
	b.Bytes = signed
	return b, nil
}

// Combine adds the signatures of another copy of a bundle's transaction, as another signer or a device returns it.
func (o Own) Combine(b Bundle, other []byte, now time.Time) (Bundle, error) {
	if _, err := o.Evaluate(b, now); err != nil {
		return Bundle{}, err
	}
	joined, err := o.Rules.CombineCold(b.Wallet, b.Bytes, other)
	if err != nil {
		return Bundle{}, err
	}
	b.Bytes = joined
	_, err = o.Evaluate(b, now)
	return b, err
}

// Describe says what an evaluated transaction does, for the person who signs. Every amount and address is one that was
// read from the bytes.
func (o Own) Describe(b Bundle, tx chain.ColdTx) string {
	var text strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("chain", "%s, %s", b.Wallet.Chain, b.Network)
	line("from", "cold wallet %s", b.Wallet.Name)
	if b.Wallet.Kind != bursar.ColdDescriptor { // the name is the bundle's; the bytes are of this account
		line("account", "%s", b.Wallet.Addresses[0])
	}
	for _, p := range tx.Payments {
		line("pays", "%s %s", o.Asset.Exact(p.Amount), o.Asset.Code)
		line("to", "%s, the hot wallet of epoch %d by this machine's own copy of its keys", p.Address, o.Epoch)
	}
	line("", "if another epoch of the seed has begun since that copy, this is an old hot wallet: sign nothing")
	if !tx.Change.IsZero() {
		line("returns", "%s %s to the cold wallet", o.Native.Exact(tx.Change), o.Native.Code)
	}
	line("fee", "%s %s", o.Native.Exact(tx.Fee), o.Native.Code)
	line("uses up", "%s", strings.Join(tx.Reservations, "\n             "))
	for _, note := range tx.Notes {
		line(note.Name, "%s", note.Text)
	}
	have, need := Signatures(tx)
	line("signatures", "%d of %d", have, need)
	line("expires", "%s", b.Expires.UTC().Format(time.RFC3339))
	if !tx.Ends.IsZero() {
		line("ends", "%s, by its own bytes", tx.Ends.UTC().Format(time.RFC3339))
	}
	if tx.Last > 0 {
		left := time.Duration(tx.Last - b.Height)
		line("last block", "%d, which is %d after block %d, at which the bundle says it was made at %s", tx.Last,
			tx.Last-b.Height, b.Height, b.Created.UTC().Format(time.RFC3339))
		line("", "that is %.0f to %.0f hours after it: look up when block %d was made", (left * tx.Spacing[0]).Hours(),
			(left * tx.Spacing[1]).Hours(), b.Height)
	}
	return text.String()
}

// Signatures returns how many signatures the input that lacks most has, and how many it needs.
func Signatures(tx chain.ColdTx) (have, need int) {
	for i, in := range tx.Inputs {
		if i == 0 || in.Need-in.Have() > need-have {
			have, need = in.Have(), in.Need
		}
	}
	return have, need
}
