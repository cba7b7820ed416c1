package remote_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer/remote"
)

// counted counts the bytes of answers.
type counted struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c counted) Write(text []byte) (int, error) {
	c.bytes.Add(int64(len(text)))
	return c.ResponseWriter.Write(text)
}

// serveCounted serves the signer, and returns how many bytes it has answered.
func (b *harness) serveCounted(t *testing.T, a remote.Address) *atomic.Int64 {
	t.Helper()
	listener, err := a.Listen(t.Context())
	b.must(err)
	answered, handler := &atomic.Int64{}, b.server.Handler()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(counted{w, answered}, r)
	})}
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { b.must(server.Close()) })
	return answered
}

// raiseBy is a raise by one signature, which has the entry of another one leave the journal.
func raiseBy(n, ended int64) marks.State {
	return marks.State{Signed: map[string]int64{"tron": n}, Ended: []marks.Ended{{Chain: "tron", Number: ended}},
		Journal: []marks.Entry{{Chain: "tron", Number: n, OutgoingID: fmt.Sprint("spend ", n),
			Content: json.RawMessage(`{ "text" : "<` + strings.Repeat("x", 1200) + `>" }`)}}}
}

// A raise costs as much as it adds, however long the journal is: the signer does not answer with what the client has.
func TestTheSignerAnswersWithoutWhatIsKnown(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	b.server.Marks = marks.NewFile(filepath.Join(t.TempDir(), "seed.marks"))
	a := socket(t)
	answered := b.serveCounted(t, a)
	keeper := b.dial(a).Marks()
	_, err := keeper.Create(t.Context(), marks.State{})
	b.must(err)
	for n := int64(1); n <= 300; n++ {
		_, err := keeper.Raise(t.Context(), raiseBy(n, 0))
		b.must(err)
	}
	if got := answered.Load(); got > 300*200 {
		t.Errorf("300 raises were answered with %d bytes, want at most 200 each", got)
	}
	if s, err := keeper.Load(t.Context()); err != nil || len(s.Journal) != 300 || answered.Load() < 300*1200 {
		t.Errorf("the marks have %d entries (%v), in %d bytes, want all 300", len(s.Journal), err, answered.Load())
	}
}

// Whatever replicas, the signer's own program and signers that start again do to the marks, each gets the marks that
// memory has.
func TestWhatIsKnownIsTrue(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	path, memory := filepath.Join(t.TempDir(), "seed.marks"), &marks.Memory{}
	b.server.Marks = marks.NewFile(path)
	a := socket(t)
	stop := b.serve(a)
	keepers := []marks.Keeper{b.dial(a).Marks(), b.dial(a).Marks(), marks.NewFile(path)}
	for _, k := range []marks.Keeper{memory, keepers[0]} {
		_, err := k.Create(t.Context(), marks.State{Keeper: "k"})
		b.must(err)
	}
	random := rand.New(rand.NewPCG(3, 3))
	for n := int64(1); n <= 200; n++ {
		if n%40 == 0 { // the signer starts again
			stop()
			b.server = &remote.Server{Signer: b.signer, Marks: marks.NewFile(path), Log: b.server.Log}
			stop = b.serve(a)
		}
		by := raiseBy(n, n-random.Int64N(9))
		if random.IntN(9) == 0 {
			by = marks.State{Beat: n, Stopped: map[string]int64{}, LinkHash: []byte{}}
		}
		want, err := memory.Raise(t.Context(), by)
		b.must(err)
		k := keepers[min(len(keepers)-1, random.IntN(9)/3)]
		got, err := k.Raise(t.Context(), by)
		b.must(err)
		is, err := json.Marshal(got)
		b.must(err)
		text, err := json.Marshal(want)
		b.must(err)
		if string(is) != string(text) {
			t.Fatalf("raise %d returns %s, want %s", n, is, text)
		}
	}
	stop()
}
