package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// SignerLog is the newest entry of a signer's log that the service has seen. It outlives the service, so that a signer
// whose state was set back is noticed.
type SignerLog struct {
	Instance  string // of the signer's state
	Number    int64
	Hash      string
	Signature string // of the signer; empty: noted by a version that had none
}

func (l SignerLog) setting() string { return "signer_log:" + l.Instance }

// SeenSignerLog returns the newest entry that was noted for an instance; its Number is 0 where none was.
func (tx Settings) SeenSignerLog(ctx context.Context, instance string) (SignerLog, error) {
	l := SignerLog{Instance: instance}
	text, err := tx.Get(ctx, l.setting())
	if err != nil || text == "" {
		return l, err
	}
	words := strings.Split(text, " ")
	if len(words) == 2 || len(words) == 3 {
		l.Number, err = strconv.ParseInt(words[0], 10, 64)
		l.Hash = words[1]
		l.Signature = strings.Join(words[2:], "")
	}
	if err != nil || l.Number < 1 {
		return l, fmt.Errorf("the noted entry of the signer's log is %.80q", text)
	}
	return l, nil
}

// NoteSignerLog notes an entry that is newer than the one that was noted, and returns the newest. One that was noted
// and is not believed is replaced: an entry that the signer did not sign says nothing, however high its number is.
func (tx Settings) NoteSignerLog(
	ctx context.Context, seen SignerLog, believed func(SignerLog) bool,
) (SignerLog, error) {
	newest, err := tx.SeenSignerLog(ctx, seen.Instance)
	if err != nil || newest.Number >= seen.Number && believed(newest) {
		return newest, err
	}
	text := strings.TrimSpace(fmt.Sprintf("%d %s %s", seen.Number, seen.Hash, seen.Signature))
	return seen, tx.set(ctx, "note the signer's log", seen.setting(), text)
}

// SignerLogs returns the newest entries that were noted, one for each instance of a signer's state.
func (tx Settings) SignerLogs(ctx context.Context) (list []SignerLog, err error) {
	names, err := rows(ctx, tx.Tx, "list the noted logs of signers", scanOne[string],
		`SELECT name FROM settings WHERE name LIKE 'signer_log:%' ORDER BY name`)
	for _, name := range names {
		if err != nil {
			return nil, err
		}
		var one SignerLog
		one, err = tx.SeenSignerLog(ctx, strings.TrimPrefix(name, SignerLog{}.setting()))
		list = append(list, one)
	}
	return list, err
}
