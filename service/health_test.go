package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store/storetest"
)

// manyEndpoints is a simulated chain with several endpoints, each with its own faults.
type manyEndpoints struct {
	*sim.Chain
	endpoints []chain.Endpoint
	behind    map[string]uint64 // blocks
	broken    map[string]error  // reads no block
	lying     map[string]bool
	empty     map[uint64]bool // heights without a block
	software  string
}

func (m *manyEndpoints) Endpoints() []chain.Endpoint { return m.endpoints }

func (m *manyEndpoints) HeadOn(ctx context.Context, endpoint string) (chain.Head, error) {
	head, err := m.Head(ctx)
	if back := m.behind[endpoint]; err == nil && back > 0 {
		if head.Latest, err = m.At(ctx, head.Latest.Height-back); err == nil {
			head.Final, err = m.At(ctx, head.Final.Height-back)
		}
	}
	return head, err
}

func (m *manyEndpoints) BlockOn(
	ctx context.Context, endpoint string, height uint64, watch chain.Watch,
) (chain.Block, error) {
	if err := m.broken[endpoint]; err != nil {
		return chain.Block{}, err
	}
	if m.empty[height] {
		return chain.Block{}, chain.ErrNoBlock
	}
	before, err := m.At(ctx, height-1)
	if err != nil {
		return chain.Block{}, err
	}
	blocks, err := m.After(ctx, before, 1, watch)
	if err != nil {
		return chain.Block{}, err
	}
	if m.lying[endpoint] {
		blocks[0].Ref.Hash = "another"
	}
	return blocks[0], nil
}

func (m *manyEndpoints) CheckHealth(context.Context, time.Time) (all []chain.Finding) {
	for _, e := range m.endpoints {
		all = append(all, chain.Finding{Node: e.Name, Check: chain.CheckVersion, Grade: chain.Good, Detail: m.software})
	}
	return all
}

// healthOf returns the findings about a chain as "node check grade" except those about versions, and the findings by
// that text.
func healthOf(t *testing.T, m *manyEndpoints, quorum int) ([]string, map[string]chain.Finding) {
	t.Helper()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	currency := native
	currency.CreditQuorum = bursar.CreditQuorum{Endpoints: quorum}
	registry, err := bursar.NewRegistry([]bursar.Currency{currency})
	if err != nil {
		t.Fatal(err)
	}
	s, err := service.New(service.Parts{DB: open(t, storetest.Reused(t)), Keys: keys, Registry: registry,
		Network: config.Mainnet,
		Chains:  []service.ChainPart{{Chain: m, MaxFee: bursar.Units(1)}}})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	found := map[string]chain.Finding{}
	for _, f := range s.CheckNodes(ctx) {
		if f.Check == chain.CheckVersion {
			continue
		}
		if (f.Advice == "") != (f.Grade == chain.Good) {
			t.Errorf("only a finding that is not ok must have advice: %+v", f)
		}
		name := f.Node + " " + f.Check + " " + string(f.Grade)
		list, found[name] = append(list, name), f.Finding
	}
	return list, found
}

func newEndpoints(names ...string) *manyEndpoints {
	m := &manyEndpoints{Chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Confirmations: 2}),
		behind: map[string]uint64{},
		broken: map[string]error{}, lying: map[string]bool{}, empty: map[uint64]bool{}, software: "/Satoshi:29.1.0/"}
	for _, name := range names {
		m.endpoints = append(m.endpoints, chain.Endpoint{Name: name, Host: strings.TrimRight(name, "0123456789")})
	}
	m.Pay(chain.Payment{Address: bursar.Address{Base: m.Named("somebody")}, Amount: bursar.Units(5)})
	m.Mine(20)
	return m
}

// Every endpoint's newest final block is read as the follower reads it, even if the endpoint is behind, and empty slots
// are skipped.
func TestEveryEndpointsNewestBlockIsRead(t *testing.T) {
	t.Parallel()
	m := newEndpoints("a", "b", "c")
	m.behind["b"] = 3
	head, err := m.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m.empty[head.Final.Height-1], m.empty[head.Final.Height-2] = true, true
	got, found := healthOf(t, m, 0)
	if !slices.Equal(got, []string{"a tested ok", "b tested ok", "c tested ok", "a block ok", "b block ok",
		"c block ok"}) {
		t.Errorf("found %q", got)
	}
	if detail := found["a block ok"].Detail; !strings.Contains(detail, fmt.Sprintf("block %d with", head.Final.Height-3)) {
		t.Errorf("read is %q, want %v in it", detail, fmt.Sprintf("block %d with", head.Final.Height-3))
	}
	m.broken["b"] = errors.New("a transaction of version 7")
	got, found = healthOf(t, m, 0)
	if !slices.Equal(got[3:], []string{"a block ok", "b block failed", "c block ok"}) ||
		!strings.Contains(found["b block failed"].Detail, "a transaction of version 7") {
		t.Errorf("found %q, %+v", got, found["b block failed"])
	}
}

func TestEndpointsThatDisagreeAreFound(t *testing.T) {
	t.Parallel()
	m := newEndpoints("a", "b", "c")
	m.behind["c"], m.lying["b"] = 2, true
	got, found := healthOf(t, m, 0)
	if !slices.Equal(got[3:], []string{"a block ok", "b block ok", "c block ok", "b quorum failed"}) {
		t.Errorf("found %q", got)
	}
	if f := found["b quorum failed"]; !strings.Contains(f.Detail, "is another") || !strings.Contains(f.Detail, "at a") {
		t.Errorf("found %+v, want %q in it and %q in it", f, "is another", "at a")
	}
}

func TestAQuorumNeedsHosts(t *testing.T) {
	t.Parallel()
	m := newEndpoints("a1", "a2", "b1")
	const ok = "credit_quorum quorum ok"
	if got, found := healthOf(t, m, 2); got[len(got)-1] != ok ||
		!strings.Contains(found[ok].Detail, "endpoints of 2 hosts serve their blocks") {
		t.Errorf("found %q, want %v and %q in it", got, ok, "endpoints of 2 hosts serve their blocks")
	}
	m.broken["b1"] = errors.New("away")
	if got, found := healthOf(t, m,
		2); !strings.Contains(found[got[len(got)-1]].Detail, "endpoints of 1 hosts serve their blocks now") {
		t.Errorf("with one host unreachable: found %q, want %q in it", got, "endpoints of 1 hosts serve their blocks now")
	}
}

// On mainnet a version is compared with the tables, at the endpoint's height.
func TestVersionsAreComparedWithTheTables(t *testing.T) {
	t.Parallel()
	m := newEndpoints("a")
	m.software = "/Satoshi:99.0.0/"
	got, found := healthOf(t, m, 0)
	if !slices.Equal(got, []string{"a tested warning", "a block ok"}) ||
		!strings.Contains(found["a tested warning"].Detail, "newer than what was tested") {
		t.Errorf("found %q, %+v", got, found["a tested warning"])
	}
}
