package xrpl

import (
	"time"

	"github.com/bursar/bursar/chain"
)

func tested() []chain.Tested {
	return []chain.Tested{
		{
			Software: "xrpld",
			From:     chain.V(3, 4, 1),
			To:       chain.V(3, 4, 1),
			How:      "checked by its documentation and recorded responses; the tests do not run it",
		},
		{Software: "clio", From: chain.V(2, 0), To: chain.V(2, 99), How: "checked by its source; the tests do not run it"},
	}
}

func forks() []chain.Fork {
	return []chain.Fork{{
		Name:   "fixBatchV1_2",
		Time:   time.Date(2026, 10, 9, 0, 0, 0, 0, time.UTC),
		Needs:  map[string]chain.Version{"xrpld": chain.V(3, 4, 1)},
		Source: "rippled release 3.4.1 of 10 Oct 2026: older releases are amendment blocked",
	}}
}

// program returns the name that rippled has since 3.2.0 (XLS-95).
func program(s chain.Software) string {
	if s.Name == "rippled" {
		return "xrpld"
	}
	return ""
}
