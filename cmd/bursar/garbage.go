package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Memory is collected once as much was allocated as is in use, and not before garbageFloor was. What is in use is
// little as long as there are few wallets, and Go's rule alone had a quarter of the processor collect it again and
// again.
const garbageFloor = 128 << 20

// garbagePercent is the GOGC at which so many bytes in use are collected as garbageFloor says.
func garbagePercent(used uint64) int {
	const most = 1600 // before the first collection, when next to nothing is in use
	return min(most, int(max(100, 100*garbageFloor/max(used, 1))))
}

// relaxCollector sets GOGC after each collection by what is in use, unless the operator has set it.
func relaxCollector() {
	if os.Getenv("GOGC") == "" {
		collector{}.adjust()
	}
}

// collector is what the next collection finds unused, so that it is heard of.
type collector struct{ _ *byte }

func (collector) adjust() {
	used := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(used)
	if used[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(garbagePercent(used[0].Value.Uint64()))
	}
	runtime.AddCleanup(&collector{}, collector.adjust, collector{})
}
