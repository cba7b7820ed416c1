package service_test

import (
	"regexp"
	"testing"
)

// custodyOf reads what a metric says is in custody at a place.
var custodyOf = regexp.MustCompile(`(?m)^bursar_custody\{currency="[A-Z]+",place="([a-z]+)"\} (\S+)$`)

func TestTheMetricSaysWhereCustodyIs(t *testing.T) {
	t.Parallel()
	metrics, s := observed(t)
	want := map[string]bool{"hot": true, "unswept": false, "cold": false}
	for _, m := range custodyOf.FindAllStringSubmatch(metrics, -1) {
		if holds, known := want[m[1]]; !known || (m[2] != "0") != holds {
			t.Errorf("%s holds %s, want something there: %v", m[1], m[2], holds)
		}
		delete(want, m[1])
	}
	if len(want) > 0 || len(s.ColdWallets()) > 0 {
		t.Errorf("the metrics lack %v, want none", want)
	}
}
