package store

import (
	"context"
	"fmt"
	"strings"
)

// SignerLog is the newest entry of a signer's log that the service has seen. It outlives the service, so that a signer
// whose state was set back is noticed.
type SignerLog struct {
	Instance string // of the signer's state
	Number   int64
	Hash     string
}

func (l SignerLog) setting() string { return "signer_log:" + l.Instance }

// SeenSignerLog returns the newest entry that was noted for an instance; its Number is 0 where none was.
func (tx Settings) SeenSignerLog(ctx context.Context, instance string) (SignerLog, error) {
	l := SignerLog{Instance: instance}
	text, err := tx.Get(ctx, l.setting())
	if err != nil || text == "" {
		return l, err
	}
	if n, err := fmt.Sscanf(text, "%d %s", &l.Number, &l.Hash); err != nil || n != 2 || strings.Contains(l.Hash, " ") {
		return l, fmt.Errorf("the noted entry of the signer's log is %.80q", text)
	}
	return l, nil
}

// NoteSignerLog notes an entry that is newer than the one that was noted, and returns the newest.
func (tx Settings) NoteSignerLog(ctx context.Context, seen SignerLog) (SignerLog, error) {
	newest, err := tx.SeenSignerLog(ctx, seen.Instance)
	if err != nil || newest.Number >= seen.Number {
		return newest, err
	}
	return seen, tx.set(ctx, "note the signer's log", seen.setting(), fmt.Sprintf("%d %s", seen.Number, seen.Hash))
}
