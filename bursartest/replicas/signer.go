package replicas

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
)

// Hourly is the signer's hourly limit of each asset, in a harness that has limits.
const Hourly = 3 * Unit

// policies are what the signer allows.
func (w *Harness) policies() map[bursar.ChainID]signer.Bounds {
	all := map[bursar.ChainID]signer.Bounds{}
	for _, c := range w.Chains {
		p := signer.Bounds{
			Capabilities: c.Capabilities(),
			Signable:     addressed{c, w.keys},
			MaxFee:       bursar.Units(maxFee),
			Now:          w.Clock.Now,
		}
		if w.Limits() {
			p.Payments = map[string]signer.Limits{}
			for _, currency := range w.Registry.On(c.Capabilities().ID) {
				p.Payments[currency.Contract] = signer.Limits{Hour: bursar.Units(Hourly)}
			}
		}
		all[c.Capabilities().ID] = p
	}
	return all
}

// Limits reports whether signers have hourly limits: with every fourth seed, until Unlimit.
func (w *Harness) Limits() bool { return w.Seed%4 == 2 && !w.unlimited }

// RemoteSigner reports whether one remote signer serves all processes, over its wire format, and outlives them: with
// every third seed.
func (w *Harness) RemoteSigner() bool { return w.Seed%3 == 1 }

// Unlimit ends the hourly limits of every signer that starts from now on, and restarts the remote signer.
func (w *Harness) Unlimit() { w.unlimited, w.remoteSigner = true, nil }

// signer is the signer of a process: its own, which forgets with it, or the remote signer.
func (p *Process) signer() (signs, error) {
	w := p.harness
	if w.RemoteSigner() && w.remoteSigner != nil {
		return signs{w.remoteSigner, p, "apart"}, nil
	}
	real, err := w.newSigner()
	if err != nil || !w.RemoteSigner() {
		name := p.holder
		if w.Rotates {
			name = "all" // they remember the same
		}
		return signs{real, p, name}, err
	}
	server := &remote.Server{Signer: real, Log: slog.New(slog.DiscardHandler)}
	w.remoteSigner = remote.Over(straight{server.Handler()})
	return signs{w.remoteSigner, p, "apart"}, nil
}

// straight is a transport to a handler in this process.
type straight struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (s straight) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	s.ServeHTTP(w, r)
	return &http.Response{
		StatusCode:    w.status,
		Header:        w.header,
		Body:          io.NopCloser(bytes.NewReader(w.body.Bytes())),
		Request:       r,
		Proto:         r.Proto,
		ProtoMajor:    1,
		ProtoMinor:    1,
		ContentLength: int64(w.body.Len()),
	}, nil
}

// signs is the signer as one process reaches it.
type signs struct {
	outgoing.Signer
	process *Process
	name    string
}

func (s signs) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (tx chain.SignedTx, err error) {
	w := s.process.harness
	if err := w.Scheduler.point(s.process, "before sign"); err != nil {
		return tx, err
	}
	if w.SignerAway {
		return tx, ErrRefused
	}
	if tx, err = s.Signer.Sign(ctx, id, request, unsigned); err != nil {
		w.Log("  signer refuses: %v", err)
		return tx, err
	}
	w.Signed = append(w.Signed, Signed{
		Chain:     id,
		TxID:      tx.TxID,
		Request:   request,
		Resources: unsigned.Reservations,
		By:        s.name,
		At:        w.Clock.Now(),
	})
	w.Log("  %s signed %s %s", s.process.Name, request.Kind, tx.TxID)
	return tx, w.Scheduler.point(s.process, "sign")
}

// Signed is a transaction that a signer signed.
type Signed struct {
	Chain     bursar.ChainID
	TxID      string
	Request   chain.TxRequest
	Resources []string
	By        string // the signer, by a unique name
	At        time.Time
}
