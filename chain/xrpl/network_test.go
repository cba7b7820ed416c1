package xrpl

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// mainHashes returns the recorded entry of mainnet's state that lists the hashes of its first ledgers.
func mainHashes(t testing.TB) object {
	t.Helper()
	raw, err := os.ReadFile("testdata/main-hashes.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct{ Node object }
	if err := json.Unmarshal(raw, &recorded); err != nil {
		t.Fatal(err)
	}
	return recorded.Node
}

// serving is a fake node of some network. id nil: it reports none, which is xrpld's default (3.0, NetworkOPs.cpp).
type serving struct {
	id     any
	height int
	clio   bool
	entry  object         // the answer about mainPage; nil: entryNotFound
	pins   map[int]object // headers that it has
}

func (n serving) start(t testing.TB) *fake {
	f := newFake(t)
	f.script["server_info"] = func(object) object {
		answer := f.usual("server_info", nil)
		info := answer["info"].(object)
		info["network_id"], info["validated_ledger"].(object)["seq"], info["complete_ledgers"] = n.id, n.height,
			fmt.Sprint(n.height)
		if n.id == nil {
			delete(info, "network_id")
		}
		if n.clio {
			info["clio_version"] = "2.3.0"
		}
		for height := range n.pins {
			info["complete_ledgers"] = fmt.Sprintf("%d,%s", height, info["complete_ledgers"])
		}
		return answer
	}
	f.script["ledger_entry"] = func(ask object) object {
		if n.entry == nil || n.entry["node"] != nil && ask["index"] != n.entry["node"].(object)["index"] {
			return object{"error": "entryNotFound", "error_code": 21, "error_message": "Requested ledger entry not found."}
		}
		return n.entry
	}
	f.script["ledger"] = func(ask object) object {
		if header := n.pins[int(ask["ledger_index"].(float64))]; header != nil {
			return object{"validated": true, "ledger": header}
		}
		return object{"error": "lgrNotFound", "error_message": "ledgerNotFound"}
	}
	return f
}

// oldest returns the header of mainnet's oldest ledger (rubblelabs/ripple, websockets/commands_test.go).
func oldest() object {
	return object{
		"ledger_index": "32570", "ledger_hash": "4109C6F2045FC7EFF4CDE8F9905D19C28820D86304080FF886B299F0206E42B5",
		"parent_hash":      "60A01EBF11537D8394EA1235253293508BDA7131D5F8710EFE9413AA129653A2",
		"account_hash":     "3806AF8F22037DE598D30D38C8861FADF391171D26F7DE34ACFA038996EA6BEB",
		"transaction_hash": hash{}.String(), "total_coins": "99999999999996320", "parent_close_time": 410325660,
		"close_time":            410325670,
		"close_time_resolution": 10, "close_flags": 0,
	}
}

// A node's network is identified by its id, by its data if it reports no id, and by its height.
func TestWrongNetworksAreRefused(t *testing.T) {
	t.Parallel()
	listing := func(change func(node object)) object {
		node := mainHashes(t)
		if change != nil {
			change(node)
		}
		return object{"index": mainPage, "node": node, "validated": true}
	}
	elsewhere := listing(func(node object) { node["Hashes"].([]any)[155] = fakeHash("elsewhere") })
	shortHistory := listing(func(node object) { node["Hashes"] = node["Hashes"].([]any)[:100] })
	closed := object{"error": "noPermission"}
	young := oldest()
	young["close_time"] = 410_325_680
	reseal(young)
	const wrong, unsure = "wrong", "unsure"
	for name, test := range map[string]struct {
		network Network
		id      uint32
		serves  serving
		want    string // "": accepted; wrong: it is of another network; unsure: the check is not possible now
	}{
		"mainnet by its id":                 {Mainnet, 0, serving{id: 0, height: mainnetPast}, ""},
		"a fresh ledger with mainnet's id":  {Mainnet, 0, serving{id: 0, height: 100}, wrong},
		"testnet":                           {Mainnet, 0, serving{id: 1, height: mainnetPast}, wrong},
		"a default mainnet node":            {Mainnet, 0, serving{height: mainnetPast, entry: listing(nil)}, ""},
		"a default node of another network": {Mainnet, 0, serving{height: mainnetPast}, wrong},
		"a default node with another past":  {Mainnet, 0, serving{height: mainnetPast, entry: elsewhere}, wrong},
		"a default node with a short past":  {Mainnet, 0, serving{height: mainnetPast, entry: shortHistory}, wrong},
		"a node with all history": {Mainnet, 0,
			serving{height: mainnetPast, entry: closed, pins: map[int]object{32570: oldest()}}, ""},
		"all history on testnet": {Testnet, 1,
			serving{height: mainnetPast, entry: closed, pins: map[int]object{32570: oldest()}}, wrong},
		"a node that proves nothing":                 {Mainnet, 0, serving{height: mainnetPast, entry: closed}, ""},
		"a node that proves nothing at a low height": {Mainnet, 0, serving{height: 100, entry: closed}, wrong},
		"another's header at a pin": {Mainnet, 0,
			serving{height: mainnetPast, entry: closed, pins: map[int]object{32570: young}}, wrong},
		"testnet by its id":                  {Testnet, 1, serving{id: 1, height: 100}, ""},
		"mainnet's id on testnet":            {Testnet, 1, serving{id: 0, height: 100}, wrong},
		"a default node on testnet":          {Testnet, 1, serving{height: 100}, ""},
		"mainnet's ledgers on testnet":       {Testnet, 1, serving{height: mainnetPast, entry: listing(nil)}, wrong},
		"any private network":                {Private, 0, serving{id: 0, height: 100}, ""},
		"any private network with an id":     {Private, 0, serving{id: 1024, height: 100}, ""},
		"any private network without an id":  {Private, 0, serving{height: 100}, ""},
		"an id that transactions must name":  {Private, 0, serving{id: 1025, height: 100}, wrong},
		"a network of its own":               {Private, 21338, serving{id: 21338, height: 100}, ""},
		"its neighbour":                      {Private, 21338, serving{id: 21337, height: 100}, wrong},
		"a node that does not accept the id": {Private, 21338, serving{height: 100}, wrong},
		"a Clio that cannot reach its node":  {Private, 21338, serving{height: 100, clio: true}, unsure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := test.serves.start(t)
			c, err := New(Config{ID: bursar.XRPL, Network: test.network, NetworkID: test.id}, rpc.Config{URLs: []string{f.url}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			_, err = c.Head(t.Context())
			var other *rpc.WrongChainError
			if errors.As(err, &other) != (test.want == wrong) || (err != nil) != (test.want != "") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// The pins match the recorded data: the entry's index, its hash, and the headers' own hashes.
func TestPins(t *testing.T) {
	t.Parallel()
	if got := sha512Half("\x00s", []byte{0, 0, 0, 0}); got.String() != mainPage {
		t.Errorf("the entry's index is %s, want %v", got, mainPage)
	}
	hashes := mainHashes(t)["Hashes"].([]any)
	if got := hashes[listed.height/256-1]; got != listed.hash {
		t.Errorf("ledger %d is %v, want %v", listed.height, got, listed.hash)
	}
	if known := pins()[0]; known.hash != oldest()["ledger_hash"] || fmt.Sprint(known.height) != oldest()["ledger_index"] {
		t.Errorf("the oldest pin is %+v", known)
	}
	if listed.height%256 != 0 {
		t.Errorf("ledger %d is not in the list", listed.height)
	}
}

// The health check explains a node that reports no id and proves nothing.
func TestHealthCheckExplainsTheNetwork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		serves serving
		want   string
	}{
		"proven": {serving{height: mainnetPast, entry: object{"node": mainHashes(t), "validated": true}},
			"chain ok: mainnet, proven by its ledgers"},
		"not proven": {serving{height: mainnetPast, entry: object{"error": "noPermission"}},
			"chain warning: network_id"},
		"by its id": {serving{id: 0, height: mainnetPast}, "chain ok: network 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := test.serves.start(t)
			c, err := New(Config{ID: bursar.XRPL, Network: Mainnet}, rpc.Config{URLs: []string{f.url}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			found := c.CheckHealth(t.Context(), c.nodes.Now())
			if len(found) == 0 || found[0].Check != chain.CheckChain {
				t.Fatalf("found %+v, want some and %v", found, chain.CheckChain)
			}
			chaintest.Findings(t, found[:1], test.want)
		})
	}
}
