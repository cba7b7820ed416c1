package remote

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// Expect names the key of the signer's log before the first answer, where it is known already: another signer is then
// refused, and what a signer said to others is verified with it.
func (c *Client) Expect(logKey ed25519.PublicKey) error { return c.pin(logKey) }

// pin notes the key of the signer's log; another one later is not the same signer.
func (c *Client) pin(logKey ed25519.PublicKey) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.logKey) > 0 && !c.logKey.Equal(logKey) {
		return errors.New("another signer answers: its log has another key")
	}
	c.logKey = logKey
	return nil
}

// see notes the newest entry of the signer's log. An older one of the same log is passed over: a signer that was set
// back is shown what was seen, and refuses. An entry that the signer did not sign is ErrUnavailable. Before Hello
// nothing is noted: there is nothing to verify with.
func (c *Client) see(log memory.Checkpoint) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.logKey) == 0 || log == c.seen {
		return nil
	}
	if err := signer.VerifyCheckpoint(c.logKey, log); err != nil {
		return fmt.Errorf("%w as the signer that it was: %w", ErrUnavailable, err)
	}
	if log.Instance != c.seen.Instance || log.After(c.seen) {
		c.seen = log
	}
	return nil
}

// hear notes whether the signer is frozen, and when it thaws.
func (c *Client) hear(frozen string, thawsAt time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frozen, c.thawsAt = frozen, thawsAt
}

// ThawsAt returns when the thaw begins that waits, as the signer said last; zero: none waits.
func (c *Client) ThawsAt() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.thawsAt
}

// Frozen returns why the signer signs nothing until a thaw, as it said last; "" if it is not frozen.
func (c *Client) Frozen() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frozen, nil
}

// Checkpoint returns the newest entry of the signer's log that was seen; it is zero before the first answer.
func (c *Client) Checkpoint() memory.Checkpoint {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// Know notes what was seen of the log through another client, as signer.Signer.Know.
func (c *Client) Know(seen memory.Checkpoint) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !seen.After(c.seen) {
		return nil
	}
	if err := signer.VerifyCheckpoint(c.logKey, seen); err != nil {
		return err
	}
	c.seen = seen
	return nil
}
