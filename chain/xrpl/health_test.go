package xrpl

import (
	"testing"
	"time"

	"github.com/bursar/bursar/chain/chaintest"
)

// Every check, with a node that passes it and one that does not.
func TestCheckHealth(t *testing.T) {
	t.Parallel()
	well := []string{"chain ok: network 1000", "version ok: rippled 2.6.2", "finality ok: validated is ledger 101",
		"history ok: from 2 on", "clock ok"}
	but := func(at int, lines ...string) []string {
		return append(append(append([]string{}, well[:at]...), lines...), well[at+1:]...)
	}
	for name, c := range map[string]struct {
		change func(info object)
		later  time.Duration
		want   []string
	}{
		"well": {want: well},
		"of Clio": {change: func(i object) {
			delete(i, "server_state")
			i["clio_version"] = "2.4.0"
		}, want: but(1, "version ok: clio 2.4.0")},
		"syncing": {change: func(i object) {
			i["server_state"] = "syncing"
		}, want: but(1, well[1], `sync failed: "syncing"`)},
		"alone": {change: func(i object) {
			delete(i, "validated_ledger")
		}, want: append(well[:2:2], "finality failed: no validated ledger")},
		"empty": {change: func(i object) {
			i["complete_ledgers"] = "empty"
		}, want: but(3, "history failed: a gap in its ledgers")},
		"far behind": {change: func(i object) {
			i["complete_ledgers"] = "2-90"
		}, want: but(3, "history failed: validated 101, complete")},
		"forgetful": {change: func(i object) {
			i["complete_ledgers"] = "2-90,95-101"
		}, want: but(3, "history warning: only from 95 on")},
		"no list of ledgers": {change: func(i object) {
			i["complete_ledgers"] = "all"
		}, want: but(3, "history failed: not a list of ranges")},
		"in the past": {later: -time.Minute, want: but(4, "clock failed: 1m0s ahead")},
		"left behind": {later: time.Hour, want: append(well, "sync warning: 1h0m0s old")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add()
			f.script["server_info"] = func(ask object) object {
				info := object{"build_version": "2.6.2", "server_state": "full", "network_id": 1000, "complete_ledgers": "2-101",
					"validated_ledger": object{"seq": 101, "hash": f.ledgers[1]["ledger_hash"], "reserve_base_xrp": 1,
						"reserve_inc_xrp": 1}}
				if c.change != nil {
					c.change(info)
				}
				return object{"info": info}
			}
			now := time.Unix(800_000_004+rippleEpoch, 0).Add(c.later)
			chaintest.Findings(t, f.open(t).CheckHealth(t.Context(), now), c.want...)
		})
	}
}

// A node that does not answer is one finding.
func TestHealthCheckOfAnUnreachableNode(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.script["server_info"] = func(object) object { return object{"error": "noNetwork"} }
	chaintest.Findings(t, f.open(t).CheckHealth(t.Context(), time.Now()), "chain failed: noNetwork")
}
