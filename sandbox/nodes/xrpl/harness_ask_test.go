package xrpl_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/bursar/bursar/sandbox/nodes/xrpl"
)

type object = map[string]any

// ask calls a method by JSON-RPC and returns its result, errors included.
func ask(t testing.TB, url, method string, params object) object {
	t.Helper()
	body, err := json.Marshal(object{"method": method, "params": []any{params}})
	check(t, err)
	resp, err := http.Post(url, "application/json", bytes.NewReader(body))
	check(t, err)
	defer resp.Body.Close()
	var answer struct{ Result object }
	check(t, json.NewDecoder(resp.Body).Decode(&answer))
	if answer.Result["status"] == nil {
		t.Fatalf("%s has no status: %v", method, answer)
	}
	return answer.Result
}

// at reads a value inside an answer.
func at(t testing.TB, answer object, path ...string) any {
	t.Helper()
	var value any = answer
	for _, name := range path {
		inner, is := value.(object)
		if !is {
			t.Fatalf("no %v in %v", path, answer)
		}
		value = inner[name]
	}
	return value
}

// want compares a value inside an answer, as text.
func want(t testing.TB, answer object, wanted any, path ...string) {
	t.Helper()
	if got := at(t, answer, path...); fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Fatalf("%v is %v, want %v, in %v", path, got, wanted, answer)
	}
}

func mine(t testing.TB, n *xrpl.Node, count int) {
	t.Helper()
	check(t, n.Mine(count))
}

// pay makes the faucet pay and closes the ledger.
func pay(t testing.TB, n *xrpl.Node, address string, drops uint64) string {
	t.Helper()
	id, err := n.Pay(address, drops)
	check(t, err)
	mine(t, n, 1)
	return id
}
