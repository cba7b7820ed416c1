package tron

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/rpc"
)

func TestTheDefaultURLOfSolidifiedBlocks(t *testing.T) {
	t.Parallel()
	for node, want := range map[string]string{
		"http://127.0.0.1:8090":               "http://127.0.0.1:8091",
		"http://me:secret@node.example:8090/": "http://me:secret@node.example:8091/",
		"http://[::1]:8090":                   "http://[::1]:8091",
		"https://api.trongrid.io":             "",
		"http://127.0.0.1:9090":               "",
		"http://8090.example:80":              "",
		"::":                                  "",
	} {
		if got := SolidURL(node); got != want {
			t.Errorf("for %s it is %q, want %q", node, got, want)
		}
	}
}

// TestTwoPorts reads a chain from a node with default settings: each port serves its own part and knows nothing of the
// other.
func TestTwoPorts(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(fakeTx{to: fakeOurs, sun: 7})
	f.solid = 1
	port := func(part string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, part) {
				http.NotFound(w, r)
				return
			}
			f.serve(w, r)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	nodes := rpc.Config{URLs: []string{port("/wallet/")},
		Branches: map[string][]string{SolidBranch: {port("/walletsolidity/")}}}
	c, err := New(Config{}, nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	head, err := c.Head(t.Context())
	if err != nil || head.Final.Height != 1 || head.Latest.Height != 1 {
		t.Fatalf("the head is %+v, %v, want 1", head, err)
	}
	from, err := c.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := c.After(t.Context(), from, 5, fakeWatch())
	if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 1 {
		t.Fatalf("the blocks are %+v, %v, want 1 of them", blocks, err)
	}
}
