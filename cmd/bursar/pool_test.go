package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/wallet"
)

func TestAPoolIsFilledByHand(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, `chains: {solana: {rpc: ["http://127.0.0.1:1"]}}`)
	d.fails(exitUsage, "--count 0 is not between", "seed", "pool", "--count", "0")
	warned := func() bool {
		o := d.run("", "doctor", "--json")
		return strings.Contains(o.out, `"check":"address pool solana","result":"warning","detail":"0 addresses are ready`)
	}
	if !warned() {
		t.Error("the doctor does not warn about the pool")
	}
	want := []listedPool{{"solana", 1500, 0}}
	if got := parse[[]listedPool](d, "seed", "pool", "--count", "1500", "--json"); !slices.Equal(got, want) {
		t.Errorf("the pool is %+v, want %+v", got, want)
	}
	if got := parse[[]listedPool](d, "seed", "pool", "--count", "20",
		"--json"); !slices.Equal(got, want) { // enough is there
		t.Errorf("then the pool is %+v, want %+v", got, want)
	}
	if table := d.ok("seed", "pool", "--count", "1"); !strings.Contains(table, "FAMILY  READY  NEXT") {
		t.Errorf("the table is\n%s, want %q in it", table, "FAMILY  READY  NEXT")
	}
	if warned() || 1500 < wallet.PoolSize/10 {
		t.Error("the doctor still warns about the pool")
	}
}

func TestAPoolNeedsItsOwnSeed(t *testing.T) {
	encryptsAtFullStrength(t)
	t.Parallel()
	d := newHarness(t)
	d.fails(exitFailed, "create one with `bursar seed new`", "seed", "pool")
	d.ok("seed", "new")
	d.ok("seed", "pool", "--count", "10")
	other := newSeededHarness(t, "database: sqlite:"+d.dir+"/bursar.db")
	other.fails(exitFailed, "use the seed_file", "seed", "pool")
}
