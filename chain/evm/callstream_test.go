package evm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// inflating sits in front of a node and answers one method with a piece of JSON that is repeated inside the node's own
// answer.
type inflating struct {
	node   *fake
	method string
	split  string // where in the node's answer the pieces go
	piece  []byte
	times  int
	most   uint64 // heap in use while they were written
	t      *testing.T
}

func (s *inflating) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !bytes.Contains(body, []byte(s.method)) {
		s.node.serve(w, r)
		return
	}
	answer := httptest.NewRecorder()
	s.node.serve(answer, r)
	before, after, found := strings.Cut(answer.Body.String(), s.split)
	if !found {
		s.t.Errorf("%s answers %.300s", s.method, answer.Body)
	}
	_, _ = io.WriteString(w, before+s.split) // the client has gone
	for range s.times {
		if _, err := w.Write(s.piece); err != nil {
			return
		}
		s.most = max(s.most, heapInUse())
	}
	_, _ = io.WriteString(w, after)
}

func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestAnswersOfAnyLength reads traces and receipts that are twice as long as the longest answer kept in memory. Anybody
// can cause them: call inputs cost memory once and appear in the trace at each call, and a log of 375 gas is 400 bytes
// in a receipt. Not parallel: it measures memory.
func TestAnswersOfAnyLength(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 400 MB")
	}
	const size, bound = 128 << 20, 48 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	input := fmt.Sprintf(`{"type":"CALL","from":%q,"to":%q,"value":"0x0","input":"0x%s","output":"0x%s"},`,
		fakeContract, fakeOutsider, strings.Repeat("00", 768<<10), strings.Repeat("00", 64<<10))
	frames := strings.Repeat(fmt.Sprintf(`{"type":"CALL","from":%q,"to":%q,"value":"0x0","calls":[{"type":"STATICCALL","from":%q,"to":%q}]},`,
		fakeContract, fakeOutsider, fakeOutsider, fakeContract), 5000)
	for name, s := range map[string]*inflating{
		"call inputs": {method: "debug_traceBlockByHash", split: `"calls":[`, piece: []byte(input)},
		"calls":       {method: "debug_traceBlockByHash", split: `"calls":[`, piece: []byte(frames)},
	} {
		s.t, s.node, s.times = t, newFake(t), size/len(s.piece)
		s.node.add(plainPayment(), fakeTx{to: fakeContract, input: "0x01",
			calls: []object{fakeCall("CALL", fakeOurs, "0x4")}})
		want := []chain.Transfer{transfer(id(0), 0, fakeOurs, 7), transfer(id(1), 1, fakeOurs, 4)}
		readSwollen(t, name, s, want, bound)
	}
	s := &inflating{t: t, method: "eth_getBlockReceipts", split: `"logs":[`, node: newFake(t)}
	b := s.node.add(fakeTx{to: fakeContract, input: "0x01",
		logs: []object{{"address": fakeContract, "topics": []string{}, "data": "0x"}}}, plainPayment())
	log, err := json.Marshal(b.receipts[0].(object)["logs"].([]any)[0])
	if err != nil {
		t.Fatal(err)
	}
	s.split, s.times = `"logs":[`+string(log), 1
	var logs bytes.Buffer
	for n := 1; logs.Len() < size; n++ {
		fmt.Fprintf(&logs,
			`,{"address":%q,"topics":[],"data":"0x","blockNumber":"0x1","transactionHash":%q,"transactionIndex":"0x0","blockHash":%q,"logIndex":"0x%x","removed":false}`,
			fakeContract, id(0), b.block["hash"], n)
	}
	s.piece = logs.Bytes()
	readSwollen(t, "logs", s, []chain.Transfer{transfer(id(1), 0, fakeOurs, 7)}, bound)
}

func readSwollen(t *testing.T, name string, s *inflating, want []chain.Transfer, bound uint64) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	c, err := New(Ethereum(), rpc.Config{URLs: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before := heapInUse()
	blocks := s.node.after(t, c)
	if !reflect.DeepEqual(blocks[0].Transfers, want) || blocks[0].Anomalies != nil {
		t.Errorf("%s: got  %+v\nwant %+v", name, blocks[0], want)
	}
	if s.most > before+bound {
		t.Errorf("%s: the heap grew by %d MB, want at most %v", name, (s.most-before)>>20, before+bound)
	}
}

// TestStreamsAreBounded: an endless answer with more entries than a block can have is cut off.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	paying := fmt.Sprintf(`{"type":"CALL","from":%q,"to":%q,"value":"0x1"},`, fakeContract, fakeOutsider)
	opened := fmt.Sprintf(`{"type":"CALL","from":%q,"to":%q,"value":"0x1","calls":[`, fakeContract, fakeOutsider)
	for name, test := range map[string]struct {
		calls string
		want  error
	}{
		"frames": {strings.Repeat(paying, maxFrames+1), errTooMuch},
		"depth":  {strings.Repeat(opened, maxDepth+1), errTooDeep},
	} {
		var s callStream
		err := s.ReadResult(reading([]byte(
			`[{"result":{"type":"CALL","from":"` + fakeOutsider + `","calls":[` + test.calls)))
		if err == nil || !strings.Contains(err.Error(), test.want.Error()) {
			t.Errorf("%s: %v, want an error and %v in it", name, err, test.want.Error())
		}
	}
	var flat flatStream
	path := strings.Repeat("0,", maxDepth+1)
	if err := flat.ReadResult(reading([]byte(`[{"traceAddress":[` + path))); err == nil ||
		!strings.Contains(err.Error(), errTooDeep.Error()) {
		t.Errorf("path: %v, want an error and %v in it", err, errTooDeep.Error())
	}
	l := &receiptList{rules: rulesOf(t, 1, fakeToken)}
	log := fmt.Sprintf(`{"address":%q,"topics":[%s%q]},`, fakeContract,
		strings.Repeat(fmt.Sprintf("%q,", transferTopic), 4), transferTopic)
	if err := l.ReadResult(reading([]byte(`[{"logs":[` + log))); err == nil ||
		!strings.Contains(err.Error(), errTooMuch.Error()) {
		t.Errorf("topics: %v, want an error and %v in it", err, errTooMuch.Error())
	}
}
