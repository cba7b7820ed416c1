package remote_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// watched is a signer that knows which signatures are on their way out.
type watched struct {
	*signer.Signer
	inside int
	frozen bool
}

func (w *watched) Leaving(id bursar.ChainID, request chain.TxRequest) (func(), error) {
	if w.frozen {
		return nil, &signer.RefusalError{Chain: id, OutgoingID: request.ID, Reason: signer.ReasonFrozen}
	}
	w.inside++
	return func() { w.inside-- }, nil
}

// writes is a response of which is known when it was written.
type writes struct {
	*httptest.ResponseRecorder
	signer           *watched
	written, flushed int // signatures on their way out then
}

func (w *writes) Write(p []byte) (int, error) {
	w.written += w.signer.inside
	return w.ResponseRecorder.Write(p)
}

func (w *writes) Flush() {
	w.flushed += w.signer.inside
	w.ResponseRecorder.Flush()
}

// The whole answer with a signature is written while a freezing command waits for it; one that was frozen after it was
// signed is not written.
func TestASignatureIsHandedOverWithinTheGate(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	signs := &watched{Signer: b.signer}
	b.server.Signer = signs
	question, err := json.Marshal(map[string]any{"chain": bursar.Ethereum, "order": b.order, "draft": b.unsigned})
	b.must(err)
	for _, frozen := range []bool{false, true} {
		signs.frozen = frozen
		w := &writes{ResponseRecorder: httptest.NewRecorder(), signer: signs}
		r := ask("/v1/sign", bytes.NewReader(question))
		b.server.Handler().ServeHTTP(w, r)
		want := http.StatusOK
		if frozen {
			want = http.StatusForbidden
		}
		if w.Code != want || !frozen && (w.written != 1 || w.flushed != 1) || signs.inside != 0 {
			t.Errorf("frozen %v: status %d, written with %d and flushed with %d on their way out, %d afterwards: %s", frozen,
				w.Code, w.written, w.flushed, signs.inside, w.Body)
		}
		if frozen && bytes.Contains(w.Body.Bytes(), []byte("Raw")) {
			t.Errorf("it is handed over: %s", w.Body)
		}
	}
}
