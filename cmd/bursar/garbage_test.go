package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// Little memory in use is not collected again for each little more, and much is collected as Go does by itself.
func TestHowMuchGarbageIsLeft(t *testing.T) {
	for used, want := range map[uint64]int{0: 1600, 1 << 20: 1600, 16 << 20: 800, 32 << 20: 400, 64 << 20: 200,
		128 << 20: 100, 4 << 30: 100} {
		if got := garbagePercent(used); got != want {
			t.Errorf("with %d bytes in use GOGC is %d, want %d", used, got, want)
		}
	}
}

// gogc is the GOGC that holds now.
func gogc() int {
	now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(now)
	return int(now[0].Value.Uint64())
}

// GOGC follows what is in use at each collection, unless the operator has set it.
func TestTheOperatorsGOGCIsKept(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	t.Setenv("GOGC", "77")
	relaxCollector()
	if got := gogc(); got != 77 {
		t.Errorf("GOGC of 77 has become %d, want 77", got)
	}
	t.Setenv("GOGC", "")
	relaxCollector()
	if got := gogc(); got < 100 {
		t.Errorf("GOGC is %d, want one by what is in use", got)
	}
	for range 2 { // after one collection, and after the next
		debug.SetGCPercent(77)
		runtime.GC()
		for gogc() == 77 {
			if t.Context().Err() != nil {
				t.Fatal("GOGC does not follow a collection")
			}
			runtime.Gosched()
		}
	}
}
