package xrpl_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/sandbox/nodes/xrpl"
)

// TestAdapterCreditsWhatIsDelivered checks how the adapter credits every way in which XRP arrives, or seems to.
func TestAdapterCreditsWhatIsDelivered(t *testing.T) {
	t.Parallel()
	for kind, arrives := range map[xrpl.Kind]bool{
		xrpl.PartialPayment: true, xrpl.DeletedAccount: true, xrpl.CashedCheck: true, xrpl.FinishedEscrow: true,
		xrpl.ClaimedChannel: true,
		xrpl.FailedPayment:  false, xrpl.IssuedPayment: false, xrpl.TokenPayment: false,
	} {
		for _, tag := range []string{"", ":0", ":77"} {
			t.Run(string(kind)+tag, func(t *testing.T) {
				t.Parallel()
				node, c := start(t, xrpl.Config{})
				base := node.NewAddress()
				pay(t, node, base, 10*xrp)
				head, err := c.Head(t.Context())
				check(t, err)
				id, err := node.Deliver(xrpl.Delivery{Kind: kind, Address: base + tag, Drops: 3 * xrp, Asked: 300 * xrp})
				check(t, err)
				mine(t, node, 1)
				blocks, err := c.After(t.Context(), head.Latest, 10, chaintest.NewWatch(base))
				check(t, err)
				var expected []chain.Transfer
				if arrives {
					address, err := c.ParseAddress(base + tag)
					check(t, err)
					expected = []chain.Transfer{{TxID: id, Address: address, Amount: bursar.Units(3 * xrp)}}
				}
				if len(blocks) != 1 || !reflect.DeepEqual(blocks[0].Transfers, expected) {
					t.Fatalf("credited %+v, want %+v", blocks, expected)
				}
			})
		}
	}
}

func TestALaggingNodeIsSimulated(t *testing.T) {
	t.Parallel()
	node, c := start(t, xrpl.Config{})
	watch := chaintest.NewWatch()
	mine(t, node, 5)
	head, err := c.Head(t.Context())
	check(t, err)
	node.Freeze(true)
	mine(t, node, 5)
	if frozen, err := c.Head(t.Context()); err != nil || frozen != head {
		t.Errorf("a frozen node's head is %+v (%v), want %+v", frozen, err, head)
	}
	node.Freeze(false)
	node.SetGap(8, 9)
	blocks, err := c.After(t.Context(), head.Latest, 10, watch)
	if err != nil || len(blocks) != 1 || blocks[0].Ref.Height != 7 {
		t.Fatalf("read up to the gap: %+v (%v), want 1 of them and 7", blocks, err)
	}
	if _, err := c.After(t.Context(), blocks[0].Ref, 10, watch); !errors.Is(err, rpc.ErrUnavailable) {
		t.Errorf("read into the gap: %v, want %v", err, rpc.ErrUnavailable)
	}
	if err := node.Reorg(1, nil); err == nil {
		t.Error("a validated ledger was replaced, want an error")
	}
}

func TestAPI(t *testing.T) {
	t.Parallel()
	node, _ := start(t, xrpl.Config{})
	url, address := node.URL(), node.NewAddress()
	id := pay(t, node, address+":5", 5*xrp)
	want(t, ask(t, url, "server_info", nil), "1-2", "info", "complete_ledgers")
	want(t, ask(t, url, "server_info", nil), nil, "info", "network_id")
	want(t, ask(t, url, "account_info", object{"account": address, "ledger_index": "validated"}), 5*xrp, "account_data",
		"Balance")
	want(t, ask(t, url, "account_info", object{"account": address, "ledger_index": 1}), "actNotFound", "error")
	want(t, ask(t, url, "account_info", object{"account": "rubbish"}), "actMalformed", "error")
	want(t, ask(t, url, "ledger", object{"ledger_index": 9}), "lgrNotFound", "error")
	want(t, ask(t, url, "ledger", object{"ledger_index": 3}), false, "validated")
	want(t, ask(t, url, "ledger_closed", nil), 2, "ledger_index")
	want(t, ask(t, url, "ledger_current", nil), 3, "ledger_current_index")
	want(t, ask(t, url, "fee", nil), 10, "drops", "open_ledger_fee")
	want(t, ask(t, url, "tx", object{"transaction": id}), 5, "DestinationTag")
	want(t, ask(t, url, "tx", object{"transaction": id, "api_version": 2}), 5*xrp, "tx_json", "DeliverMax")
	lost := object{"transaction": strings.Repeat("A", 64), "min_ledger": 1, "max_ledger": 2}
	want(t, ask(t, url, "tx", lost), true, "searched_all")
	lost["max_ledger"] = 3
	want(t, ask(t, url, "tx", lost), false, "searched_all")
	want(t, ask(t, url, "account_tx", object{"account": address}), 2, "ledger_index_max")
	want(t, ask(t, url, "unheardOf", nil), "unknownCmd", "error")
	want(t, ask(t, url, "submit", object{"tx_blob": "12"}), "invalidTransaction", "error")
}

func TestPayRefuses(t *testing.T) {
	t.Parallel()
	node, _ := start(t, xrpl.Config{})
	for address, drops := range map[string]uint64{
		"rubbish": xrp, node.NewAddress(): xrp - 1, node.NewAddress() + ":x": xrp, node.NewAddress() + ":4294967296": xrp,
		"rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh": xrp,
	} {
		if id, err := node.Pay(address, drops); err == nil {
			t.Errorf("paid %d to %s: %s, want an error", drops, address, id)
		}
	}
}

// TestWebSocket checks that a WebSocket on the same port serves the same commands, and each closed ledger as a
// message.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	node, _ := start(t, xrpl.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(node.URL(), "http", "ws", 1), nil)
	check(t, err)
	defer conn.CloseNow()
	say := func(text string) object {
		check(t, conn.Write(ctx, websocket.MessageText, []byte(text)))
		return hear(ctx, t, conn)
	}
	answer := say(`{"id":7,"command":"subscribe","streams":["ledger"],"api_version":2}`)
	want(t, answer, 7, "id")
	want(t, answer, 1, "result", "ledger_index")
	mine(t, node, 1)
	closed := hear(ctx, t, conn)
	want(t, closed, "ledgerClosed", "type")
	want(t, closed, node.Hash(2), "ledger_hash")
	want(t, say(`{"id":"a","command":"unsubscribe","streams":["ledger"]}`), "success", "status")
	mine(t, node, 1)
	answer = say(`{"id":8,"command":"account_info","account":"rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"}`)
	want(t, answer, "actNotFound", "error")
	want(t, answer, 8, "id")
	want(t, say(`rubbish`), "missingCommand", "error")
	check(t, node.Close())
	if _, _, err := conn.Read(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("the connection outlives the node: %v, want an error and nil", err)
	}
}

func hear(ctx context.Context, t *testing.T, conn *websocket.Conn) object {
	t.Helper()
	_, text, err := conn.Read(ctx)
	check(t, err)
	var answer object
	check(t, json.Unmarshal(text, &answer))
	return answer
}

// TestHashesOfLedgers checks that the state lists the hashes of earlier ledgers, as a node serves them that keeps no
// history (xrpld 3.0, updateSkipList).
func TestHashesOfLedgers(t *testing.T) {
	t.Parallel()
	node, _ := start(t, xrpl.Config{})
	const short, first = "B4979A36CDC7F3D3D5C31A4EAE2AC7D7209DDA877588B9AFC66799692AB0D66B",
		"692ECE2D61FD5074F298DC168177CA6E17B7282B9630E606AE519D7FE32B5940"
	entry := func(index string) object {
		return ask(t, node.URL(), "ledger_entry", object{"index": index, "ledger_index": "validated"})
	}
	mine(t, node, 100)
	want(t, entry(first), "entryNotFound", "error")
	mine(t, node, 600)
	for index, heights := range map[string][]uint64{short: {445, 700}, first: {256, 512}} {
		answer := entry(index)
		want(t, answer, "LedgerHashes", "node", "LedgerEntryType")
		hashes := at(t, answer, "node", "Hashes").([]any)
		if hashes[0] != node.Hash(heights[0]) || hashes[len(hashes)-1] != node.Hash(heights[1]) {
			t.Errorf("%s lists %v … %v of %d, want %v and %v", index, hashes[0], hashes[len(hashes)-1], len(hashes),
				node.Hash(heights[0]), node.Hash(heights[1]))
		}
	}
}
