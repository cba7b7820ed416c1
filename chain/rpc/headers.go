package rpc

import "maps"

// Headers returns Config.Headers, for a subscription at the same provider. Their values are credentials.
func (c *Client) Headers() map[string]string { return maps.Clone(c.cfg.Headers) }
