package chain_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

func TestNodesAreOpenedWithoutARequest(t *testing.T) {
	t.Parallel()
	check := func(context.Context, *rpc.Session) error { return nil }
	if _, err := chain.OpenNodes(bursar.Polygon, rpc.Config{}, check); err == nil ||
		!strings.HasPrefix(err.Error(), "chain polygon: ") {
		t.Errorf("nodes without a URL: got %v, want an error that names the chain", err)
	}
	n, err := chain.OpenNodes(bursar.Polygon, rpc.Config{URLs: []string{"http://node.invalid"}}, check)
	if err != nil || n.Several || n.Log == nil || n.Now().IsZero() {
		t.Errorf("got %+v, %v, want one node with a log and a clock", n, err)
	}
}

func TestHeightsAreComparedAtTheFirstOfTenCalls(t *testing.T) {
	t.Parallel()
	node := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(node.Close)
	for want, urls := range map[int][]string{0: {node.URL}, 6: {node.URL, node.URL + "/other"}} {
		n, err := chain.OpenNodes(bursar.Polygon, rpc.Config{URLs: urls},
			func(context.Context, *rpc.Session) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		asked := make(chan struct{}, 100)
		for range 21 {
			n.CompareHeights(t.Context(), func(context.Context, *rpc.Session) (uint64, error) {
				asked <- struct{}{}
				return 7, nil
			})
		}
		if len(asked) != want {
			t.Errorf("21 calls with %d nodes read %d heights, want %d", len(urls), len(asked), want)
		}
	}
}

func TestEveryNodeIsCheckedOrAFinding(t *testing.T) {
	t.Parallel()
	n, err := chain.OpenNodes(bursar.Polygon, rpc.Config{URLs: []string{"http://a.invalid", "http://b.invalid"}},
		func(_ context.Context, s *rpc.Session) error {
			if strings.Contains(s.Name(), "b.invalid") {
				return errors.New("it is of another kind")
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	found := n.CheckEach(t.Context(), func(_ context.Context, _ *rpc.Session, r *chain.Report) {
		r.Good(chain.CheckChain, "it is the chain")
	})
	if len(found) != 2 || found[0].Grade != chain.Good || found[1].Grade != chain.Bad || found[1].Node == found[0].Node {
		t.Errorf("found %+v, want a good node, and one that cannot be used", found)
	}
}
