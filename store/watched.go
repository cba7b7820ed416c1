package store

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/bursar/bursar"
)

// WatchedPart is how many wallet numbers one part of the watched addresses covers: part p has the numbers above
// p*WatchedPart, up to (p+1)*WatchedPart.
const WatchedPart = watchedAtOnce

// WatchedHash is the hash under which an address is watched: that of its text in small letters. Parts in the database
// depend on it, so it never changes.
func WatchedHash(lower []byte) uint64 { return xxhash.Sum64(lower) }

// FoldedHash is WatchedHash of a text whose ASCII capital letters count as small ones.
func FoldedHash(s string) uint64 {
	var buffer [128]byte
	lower := append(buffer[:0], s...)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return WatchedHash(lower)
}

// WatchedCount returns how many hashes all parts of a family hold.
func (tx Wallets) WatchedCount(ctx context.Context, family bursar.Family) (count int64, err error) {
	err = tx.row(ctx, "count watched addresses",
		`SELECT COALESCE(SUM(LENGTH(hashes)), 0) FROM watched_parts WHERE family = $1`, []any{string(family)}, &count)
	return count / 8, err
}

// EachWatchedPart calls f with the hashes of each part of a family from a first one on, in their order and up to the
// first that has not been written. hashes are f's only during the call.
func (tx Wallets) EachWatchedPart(ctx context.Context, family bursar.Family, from int64,
	f func(part int64, hashes []uint64)) error {
	found, err := tx.query(ctx, `SELECT part, hashes FROM watched_parts WHERE family = $1 AND part >= $2 ORDER BY part`,
		string(family), from)
	if err != nil {
		return tx.fail("read parts of watched addresses", err)
	}
	defer found.Close()
	var hashes []uint64
	for next := from; found.Next(); next++ {
		var part int64
		var raw []byte
		if err := found.Scan(&part, &raw); err != nil {
			return tx.fail("read parts of watched addresses", err)
		}
		if part != next {
			break
		}
		hashes = hashes[:0]
		for ; len(raw) >= 8; raw = raw[8:] {
			hashes = append(hashes, binary.LittleEndian.Uint64(raw))
		}
		f(part, hashes)
	}
	return found.Err()
}

// KeepWatchedPart writes a part from the wallets and returns its hashes, and false where not all of its wallets are
// committed. They are read in the transaction that writes them: a database that stepped back in between, and gives
// numbers out again, never has a part that lacks a wallet.
func (tx Wallets) KeepWatchedPart(ctx context.Context, family bursar.Family, part int64) (hashes []uint64, whole bool,
	err error) {
	newest, err := tx.Newest(ctx)
	after := part * WatchedPart
	if err != nil || newest < after+WatchedPart {
		return nil, false, err
	}
	if err := tx.eachWatched(ctx, family, after, after+WatchedPart, func(base string) {
		hashes = append(hashes, FoldedHash(base))
	}); err != nil {
		return nil, false, err
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes) // wallets that share an address
	raw := make([]byte, 0, 8*len(hashes))
	for _, hash := range hashes {
		raw = binary.LittleEndian.AppendUint64(raw, hash)
	}
	_, err = tx.exec(ctx, "keep a part of watched addresses", `INSERT INTO watched_parts(family, part, hashes)
		VALUES ($1, $2, $3) ON CONFLICT (family, part) DO NOTHING`, string(family), part, raw)
	return hashes, err == nil, err
}
