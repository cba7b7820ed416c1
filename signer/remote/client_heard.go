package remote

import (
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// hearBegun notes who began the epochs, as an answer to Hello has it. It is believed of the network and the log that
// this answer is of, and with the signature of its key.
func (c *Client) hearBegun(a hello) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = a.Begun.By(c.logKey, a.KeyExport.Public.Network, a.Log.Instance)
}

// Begun returns which epochs have begun, and by whom, as the signer said with its last answer to Hello. What its key
// did not sign is left out, and so is everything before the first answer.
func (c *Client) Begun() []signer.BegunEpoch {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun
}

// hearEpoch notes which epoch the signer says is in force.
func (c *Client) hearEpoch(e *chain.Epoch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch = e
}

// Epoch returns the epoch that is in force, as the signer said it with its last answer to SendHalts or Hello, and
// whether it did. Only what Hello returns is proven.
func (c *Client) Epoch() (e chain.Epoch, said bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epoch == nil {
		return 0, false
	}
	return *c.epoch, true
}
