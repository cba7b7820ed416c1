package bitcoin

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// recorded is a session with a real bitcoind. Its blocks appear as submitblock calls.
type recorded struct {
	Source string
	Time   int64
	Calls  []struct {
		Method string
		Params []any
		Status int
		Drop   []string // fields that depend on when the call was made, left out of Result
		Result any
		Error  *rpcError
	}
}

// TestAnswersAreBitcoinds replays a real bitcoind's blocks and calls on the node, which has to give the same answers:
// the same fields, values, number texts, codes, messages and HTTP status. The first blocks replace all of the node's
// own.
func TestAnswersAreBitcoinds(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/bitcoind.json")
	if err != nil {
		t.Fatal(err)
	}
	var r recorded
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	then := func() time.Time { return time.Unix(r.Time, 0) }
	n := start(t, Config{Options: host.Options{Now: then}, Params: &chaincfg.RegressionNetParams})
	compared := 0
	for i, c := range r.Calls {
		got := rpc(t, n, c.Method, c.Params...)
		dropFields(got.Result, c.Drop)
		if got.status != c.Status || !reflect.DeepEqual(got.Error, c.Error) || !reflect.DeepEqual(got.Result, c.Result) {
			t.Errorf("call %d: %s %.200v\n got %d %s %+v\nwant %d %s %+v", i, c.Method, c.Params,
				got.status, encode(t, got.Result), got.Error, c.Status, encode(t, c.Result), c.Error)
		}
		if c.Method != "submitblock" {
			compared++
		}
	}
	if compared < 150 {
		t.Errorf("compared only %d answers with %s", compared, r.Source)
	}
}

func dropFields(v any, names []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, field := range v {
			if slices.Contains(names, name) {
				delete(v, name)
			} else {
				dropFields(field, names)
			}
		}
	case []any:
		for _, e := range v {
			dropFields(e, names)
		}
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
