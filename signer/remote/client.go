package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// Client sends requests to a remote signer. It is safe for concurrent use.
type Client struct {
	http *http.Client

	mu     sync.Mutex
	logKey ed25519.PublicKey // what entries of the signer's log are signed with; empty before the first answer
	seen   memory.Checkpoint // the newest entry of the signer's log
	frozen string            // why the signer signs nothing, as it said last

	thawsAt time.Time           // when it thaws, as it said last; zero: no thaw waits
	begun   []signer.BegunEpoch // who began the epochs, as the signer said with its last answer to Hello
	epoch   *chain.Epoch        // that is in force, as the signer said last; nil: it never did

	policy signer.PolicyClaim // the newest policy that was in force; its version is 0 where none was
}

// askTime bounds one request: five hundred inputs are signed in well under a second.
const askTime = 30 * time.Second

// Dial prepares a client, which connects with its first request. The error says what is wrong with the address or its
// files.
func Dial(a Address) (*Client, error) {
	dial, err := a.dial()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext:            dial,
		MaxIdleConns:           4,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 8 << 10,
		DisableCompression:     true,
	}
	refuse := func(*http.Request, []*http.Request) error { return errors.New("a signer must not redirect") }
	return &Client{http: &http.Client{Transport: transport, CheckRedirect: refuse, Timeout: askTime}}, nil
}

// Over returns a client over the caller's transport, such as one to a Server's Handler in the same process.
func Over(transport http.RoundTripper) *Client {
	return &Client{http: &http.Client{Transport: transport}}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Hello returns the keys that a service without the seed needs. The error is ErrUnavailable, or says that the signer
// speaks another version.
func (c *Client) Hello(ctx context.Context) (signer.KeyExport, error) {
	var a hello
	if err := c.ask(ctx, pathHello, struct{}{}, &a); err != nil {
		return signer.KeyExport{}, fmt.Errorf("connect to the signer: %w", err)
	}
	if a.Version != Version {
		return signer.KeyExport{},
			fmt.Errorf("the signer speaks version %d of the protocol, this service %d: run the same release of both",
				a.Version, Version)
	}
	c.hear(a.Frozen, a.ThawsAt)
	if err := c.pin(a.KeyExport.LogKey); err != nil {
		return signer.KeyExport{}, fmt.Errorf("connect to the signer: %w", err)
	}
	if err := c.see(a.Log); err != nil {
		return signer.KeyExport{}, fmt.Errorf("connect to the signer: %w", err)
	}
	if err := a.KeyExport.VerifyEpochs(); err != nil {
		return signer.KeyExport{}, fmt.Errorf("connect to the signer: %w", err)
	}
	c.hearEpoch(&a.KeyExport.Public.Epoch)
	c.hearBegun(a)
	return a.KeyExport, nil
}

// Publics returns the public keys of count deposit addresses of a family from an index on. The error is ErrUnavailable.
func (c *Client) Publics(ctx context.Context, family bursar.Family, from uint32, count int) ([]chain.PublicKey, error) {
	var all []chain.PublicKey
	for len(all) < count {
		n := min(count-len(all), maxKeys)
		var a keysAnswer
		if err := c.ask(ctx, pathKeys, keysQuestion{family, from + uint32(len(all)), n}, &a); err != nil {
			return nil, fmt.Errorf("request public keys: %w", err)
		}
		if len(a.Keys) != n {
			return nil, fmt.Errorf("request public keys: %w: %d keys for %d", ErrUnavailable, len(a.Keys), n)
		}
		all = append(all, a.Keys...)
	}
	return all, nil
}

// Sign is signer.Signer.Sign of the remote signer. The error is a *signer.RefusalError, or ErrUnavailable.
func (c *Client) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	var a signAnswer
	err := c.ask(ctx, pathSign, signQuestion{id, request, unsigned, c.Checkpoint(), c.claim()}, &a)
	var refused refusedError
	if errors.As(err, &refused) {
		return chain.SignedTx{}, &signer.RefusalError{
			Chain:      id,
			OutgoingID: request.ID,
			Reason:     refused.Reason,
			Detail:     refused.Detail,
			Never:      refused.Never,
		}
	}
	if err != nil {
		return chain.SignedTx{}, fmt.Errorf("sign outgoing transaction %s: %w", request.ID, err)
	}
	if err := c.see(a.Log); err != nil {
		return chain.SignedTx{}, fmt.Errorf("sign outgoing transaction %s: %w", request.ID, err)
	}
	return a.Signed, nil
}

// SendHalts is signer.Signer.SendHalts of the remote signer. The error is ErrUnavailable.
func (c *Client) SendHalts(ctx context.Context, h signer.Halts) (known int64, err error) {
	var a haltsAnswer
	if err := c.ask(ctx, pathHalts, h, &a); err != nil {
		return 0, fmt.Errorf("send the halts to the signer: %w", err)
	}
	c.hear(a.Frozen, a.ThawsAt)
	c.hearEpoch(a.Epoch)
	if err := c.see(a.Log); err != nil {
		return 0, fmt.Errorf("send the halts to the signer: %w", err)
	}
	return a.Number, nil
}

// Policy is signer.Signer.Policy of the remote signer. The error is ErrUnavailable.
func (c *Client) Policy(ctx context.Context) (p signer.PolicyText, err error) {
	if err := c.ask(ctx, pathPolicy, policyQuestion{c.claim()}, &p); err != nil {
		return p, fmt.Errorf("ask the signer for its policy: %w", err)
	}
	if p.Claim.Version == 0 {
		return p, nil
	}
	if err := c.KnowPolicy(ctx, p.Claim); err != nil {
		return p, fmt.Errorf("ask the signer for its policy: %w as the signer that it was: %w", ErrUnavailable, err)
	}
	return p, nil
}

// KnowPolicy notes which policy was in force, as the signer said it to this client or another; the signer is informed
// with every request. The error is signer.ErrClaim.
func (c *Client) KnowPolicy(_ context.Context, claim signer.PolicyClaim) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.logKey) == 0 || claim.Version <= c.policy.Version {
		return nil // before Hello there is nothing to verify with
	}
	if err := signer.VerifyPolicyClaim(c.logKey, claim); err != nil {
		return err
	}
	c.policy = claim
	return nil
}

func (c *Client) claim() signer.PolicyClaim {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.policy
}

// refusedError returns a refusal from ask.
type refusedError struct{ refusal }

func (e refusedError) Error() string { return string(e.Reason) + ": " + e.Detail }

func (c *Client) ask(ctx context.Context, path string, q, a any) error {
	text, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://signer"+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("encode the request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(header, strconv.Itoa(Version))
	answer, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case len(body) > maxAnswer:
		return fmt.Errorf("%w: its response is too long", ErrUnavailable)
	case answer.StatusCode == http.StatusForbidden:
		return refusalIn(body)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%w: HTTP %d: %.200s", ErrUnavailable, answer.StatusCode, body)
	}
	if err := json.Unmarshal(body, a); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

func refusalIn(body []byte) error {
	var refused refusedError
	if err := json.Unmarshal(body, &refused.refusal); err != nil || refused.Reason == "" {
		return fmt.Errorf("%w: a refusal without a reason", ErrUnavailable)
	}
	return refused
}
