package main

import (
	"context"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
)

// notices connects to everybody who is notified, without sending anything. That nobody hears of an alarm is a warning:
// nothing stops, and nothing else says so.
func (e *healthCheck) notices(ctx context.Context) {
	if len(e.cfg.Notices.Receivers) == 0 {
		if e.cfg.Network == config.Mainnet {
			e.advise("notices", resultWarning, "add a receiver under `notices` (docs/operations/notices.md), unless your "+
				"monitoring has the rules of docs/observability/alerts.yaml", "nobody is notified of alarms")
		}
		return
	}
	for _, r := range service.NewNotifier(e.cfg.Notices).Receivers {
		within, cancel := context.WithTimeout(ctx, noticeWithin)
		said, err := r.Transport.Check(within)
		cancel()
		if err != nil {
			e.advise("notices "+r.Name, resultWarning, "check the receiver, then run `bursar notice test "+r.Name+"`", "%v", err)
			continue
		}
		e.note("notices "+r.Name, resultOK, "%s; `bursar notice test %s` sends a message", said, r.Name)
	}
}
