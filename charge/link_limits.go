package charge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// MaxLinkOpen is how many charges of one link are open and unpaid at the same time.
const MaxLinkOpen = 1000

// shares are how many of them each of a caller's networks may have: those of IPv4 and of IPv6, by their size in bits.
// The widest is what one customer of a registry has, and no network has more than half of all.
var shares = []struct {
	four, six int
	open      int64
}{
	{16, 32, 500},
	{24, 48, 100},
	{32, 64, 10},
}

// visitor names a caller's networks: hashes, so that no address is readable, and of the link too, so that those of
// different links cannot be compared.
func visitor(link bursar.ID, from netip.Prefix) (v store.Visitor) {
	if !from.IsValid() {
		return nil
	}
	address := from.Addr().Unmap()
	for _, share := range shares {
		bits := share.six
		if address.Is4() {
			bits = share.four
		}
		network, err := address.Prefix(bits)
		if err != nil {
			return nil
		}
		sum := sha256.Sum256([]byte("bursar visitor v1\n" + link.String() + "\n" + network.String()))
		v = append(v, hex.EncodeToString(sum[:8]))
	}
	return v
}

// admits refuses a visit before an address is taken for it; admit decides.
func (s *Service) admits(ctx context.Context, l bursar.PaymentLink, v store.Visitor) error {
	return s.DB.View(ctx, func(tx *store.Tx) error { return withinLimits(ctx, tx, l, v) })
}

// admit refuses a charge if its link is at a limit. It locks the link until the charge is written, so that two visits
// at the same time cannot both get the last use.
func admit(ctx context.Context, tx *store.Tx, link bursar.ID, v store.Visitor) error {
	l, err := tx.PaymentLinks().Lock(ctx, link)
	if err != nil {
		return err
	}
	return withinLimits(ctx, tx, l, v)
}

func withinLimits(ctx context.Context, tx *store.Tx, l bursar.PaymentLink, v store.Visitor) error {
	if !l.Takes(tx.Now()) {
		return closed("this payment link has ended")
	}
	open, used, err := tx.PaymentLinks().Used(ctx, l.ID, tx.Now(), max(MaxLinkOpen, l.MaxUses))
	switch {
	case err != nil:
		return err
	case l.MaxUses > 0 && used >= l.MaxUses:
		return closed("this payment link is used up")
	case l.MaxUses > 0 && used+open >= l.MaxUses, open >= MaxLinkOpen:
		return errLinkBusy
	}
	return shareFor(ctx, tx, l, v)
}

var errLinkBusy = bursar.Refuse(bursar.CodeRateLimited, "others are paying by this link just now; try again later")

// shareFor refuses a charge where one of the caller's networks has its share of the link's open charges. Of a link with
// few uses that is half of them, or a single one.
func shareFor(ctx context.Context, tx *store.Tx, l bursar.PaymentLink, v store.Visitor) error {
	if len(v) == 0 {
		return nil
	}
	visitors, err := tx.PaymentLinks().Visitors(ctx, l.ID, tx.Now(), MaxLinkOpen)
	if err != nil {
		return err
	}
	open := make([]int64, len(shares))
	for _, other := range visitors {
		for i := range min(len(other), len(v)) {
			if other[i] == v[i] {
				open[i]++
			}
		}
	}
	for i, share := range shares {
		most := share.open
		if l.MaxUses > 0 {
			most = min(most, (l.MaxUses+1)/2)
		}
		if open[i] >= most {
			return errLinkBusy
		}
	}
	return nil
}
